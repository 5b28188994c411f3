import { ERROR_RULES, PolicyError, ruleOf, toPolicyError, type ErrorCode } from '../../../core/policy/errors';

const CODES = Object.keys(ERROR_RULES) as ErrorCode[];

describe('error codes', () => {
  it.each(CODES)('%s is stable in form and says how it is answered', (code) => {
    const { outcome, answer, http, rpc } = ruleOf(code);
    expect(code).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(['refused', 'error']).toContain(outcome);
    expect(answer === 'http').toBe(http >= 400);
    expect(Number.isInteger(http) && http < 600).toBe(true);
    expect(rpc).toBeLessThan(0);
  });

  it('reach a model as a result where it can correct itself', () => {
    for (const code of ['arguments_invalid', 'range_too_wide', 'upstream_not_found'] as const) {
      expect(ruleOf(code).answer).toBe('result');
    }
  });

  it('count a rule that said no as refused and a failure as an error', () => {
    expect(ruleOf('arguments_invalid').outcome).toBe('refused');
    expect(ruleOf('upstream_timeout').outcome).toBe('error');
  });
});

describe('what is thrown', () => {
  it('passes as it is when it is a policy error', () => {
    const refusal = new PolicyError('tool_unknown', 'There is no such tool.');
    expect(toPolicyError(refusal, 'internal_error', 'It failed.')).toBe(refusal);
  });

  it.each([new Error('password=hunter2'), 'password=hunter2', undefined, null, { secret: 'hunter2' }])(
    'shows nothing of a foreign error: %p',
    (thrown) => {
      const error = toPolicyError(thrown, 'internal_error', 'It failed inside.');
      expect(error).toMatchObject({ code: 'internal_error', message: 'It failed inside.' });
      expect(JSON.stringify([error, error.message])).not.toContain('hunter2');
    },
  );
});
