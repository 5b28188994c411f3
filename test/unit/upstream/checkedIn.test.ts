import { satisfies } from '../../../core/policy/arguments';
import { json } from '../../support/upstreamDouble';
import { OPERATIONS, operationNamed } from '../contract/checkedIn';
import { parameters, SECRET, useHarness } from './harness';
import { CANARY, SAMPLES } from './samples';

const harness = useHarness();

it('has a sample of every operation that is checked in', () => {
  expect(SAMPLES.map(({ tool }) => tool).sort()).toEqual(
    OPERATIONS.map(({ descriptor }) => descriptor.name).sort(),
  );
});

describe.each(SAMPLES)('$tool', ({ tool, args, path, query, body, result }) => {
  const prepared = operationNamed(tool);

  it('asks upstream what its documentation says, and nothing else', async () => {
    const { upstream } = harness();
    upstream.on('*', json(body));
    await harness().call(prepared, args, {
      credential: { authentication: 'header', name: 'X-N8N-API-KEY' },
    });
    expect(upstream.requests).toHaveLength(1);
    const { method, path: asked, query: sent, headers } = upstream.lastRequest;
    expect([method, asked]).toEqual(['GET', path]);
    expect(parameters(sent)).toEqual(query);
    expect(headers).toMatchObject({ 'x-n8n-api-key': SECRET, accept: 'application/json' });
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'x-n8n-api-key',
    ]);
  });

  it('answers with what the contract keeps, in the declared shape', async () => {
    harness().upstream.on('*', json(body));
    const { structured, text } = await harness().call(prepared, args);
    expect(structured).toEqual(result);
    expect(text).toBe(JSON.stringify(structured));
    expect(text).not.toContain(CANARY);
    expect(satisfies(prepared.descriptor.outputSchema ?? {}, structured)).toBe(true);
  });

  it('keeps the path of a base address in front of its own', async () => {
    harness().upstream.on('*', json(body));
    await harness().call(prepared, args, {
      credential: { baseUrl: `${harness().upstream.origin}/behind/proxy/`, authentication: 'none' },
    });
    expect(harness().upstream.lastRequest.path).toBe(`/behind/proxy${path}`);
  });

  it('says that it failed when upstream answers in another shape', async () => {
    for (const other of [
      { login: 'required' },
      [],
      'text',
      { data: 'text' },
      { data: { activeTargets: 5, result: 5 } },
    ]) {
      harness().upstream.on('*', json(other));
      const failure = await harness().failure(prepared, args);
      expect([failure.code, other]).toEqual(['upstream_unexpected_shape', other]);
    }
  });
});

describe('Prometheus', () => {
  it.each([
    ['scalar', 1],
    ['string', 'text'],
  ])('answers a %s as one record of the usual shape', async (resultType, value) => {
    const result = [1767225600, String(value)];
    harness().upstream.on('*', json({ status: 'success', data: { resultType, result } }));
    const { structured } = await harness().call(operationNamed('prometheus_query'), { query: '1' });
    expect(structured).toMatchObject({
      items: [{ metric: {}, value: result }],
      returned: 1,
      result_type: resultType,
    });
  });

  it('refuses a day at one second without asking upstream', async () => {
    const args = { query: 'up', start: '1767139200', end: '1767225600', step: '1' };
    const failure = await harness().failure(operationNamed('prometheus_query_range'), args);
    expect(failure).toMatchObject({ code: 'range_too_wide', pointer: '/step' });
    expect(harness().upstream.requests).toEqual([]);
  });

  it('never asks for limit 0, which Prometheus reads as no limit', async () => {
    const failure = await harness().failure(operationNamed('prometheus_query'), { query: 'up', limit: 0 });
    expect(failure).toMatchObject({ code: 'arguments_invalid', pointer: '/limit' });
  });

  it('asks for a label list from the earliest allowed start on', async () => {
    harness().upstream.on('*', json({ status: 'success', data: [] }));
    await harness().call(operationNamed('prometheus_list_labels'), {}, { now: 1_767_225_600 });
    expect(parameters(harness().upstream.lastRequest.query)).toMatchObject({ start: ['1764547200'] });
  });
});
