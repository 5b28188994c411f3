import {
  OAuthError,
  OAuthErrorCode,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { failureOf, statusOf } from '../../../core/client/failure';
import { PolicyError } from '../../../core/policy/errors';
import { RpcFault, status, tool } from '../../support/mcpServerDouble';
import { going, pinned, refused, useHarness } from './harness';

const harness = useHarness();
const TOKEN = 'tok-4711-abcdef';

describe('what a server answers instead of a result', () => {
  it.each([
    [401, 'upstream_auth_failed', 'refused the credential (HTTP 401)'],
    [403, 'upstream_auth_failed', 'refused the credential (HTTP 403)'],
    [404, 'upstream_not_found', 'no MCP server at this endpoint (HTTP 404)'],
    [405, 'upstream_not_found', '(HTTP 405)'],
    [409, 'upstream_rejected', '(HTTP 409)'],
    [429, 'upstream_rate_limited', '(HTTP 429)'],
    [500, 'upstream_unavailable', '(HTTP 500)'],
    [502, 'upstream_unavailable', '(HTTP 502)'],
    [504, 'upstream_unavailable', '(HTTP 504)'],
  ])('is a code and a sentence: HTTP %d', async (code, expected, sentence) => {
    const double = await harness.double({ tools: [tool('one')] });
    double.on('tools/call', () => status(code, 'because'));
    const { server } = harness.client(double.endpoint);
    const error = await refused(server.call(pinned(double), 'one', {}, going()));
    expect(error.code).toBe(expected);
    expect(error.message).toContain(sentence);
    expect(error.message).toContain('because');
    expect(double.calls).toHaveLength(1);
  });

  it.each(['handshake', 'call'])('holds no token, whoever repeats it: in the %s', async (when) => {
    const double = await harness.double({ tools: [tool('one')] });
    const said = `bad token ${TOKEN.toUpperCase()} (Authorization: Bearer ${TOKEN})`;
    if (when === 'handshake') double.before = () => status(401, said);
    double.on('tools/call', () => {
      throw new RpcFault(-32000, said);
    });
    const { server, lines } = harness.client(double.endpoint, {
      credential: { authentication: 'bearer', token: TOKEN },
    });
    const { message } = await refused(server.call(pinned(double), 'one', {}, going()));
    expect(message).toContain('bad token [redacted]');
    expect(`${message}${lines.join('')}`).not.toMatch(/4711/);
  });

  it('holds no token that a header carried behind a scheme', async () => {
    const double = await harness.double();
    double.before = () => status(403, `key ${TOKEN} is unknown`);
    const credential = {
      authentication: 'header',
      headerName: 'Authorization',
      headerSecret: `Token ${TOKEN}`,
    } as const;
    const { message } = await refused(
      harness.client(double.endpoint, { credential }).server.listing(going()),
    );
    expect(message).toContain('key [redacted] is unknown');
  });

  it('is no page of HTML, and one line of at most a few hundred characters', async () => {
    const double = await harness.double();
    double.before = () => status(503, '\n <!doctype html><title>Sign in</title>');
    const page = await refused(harness.client(double.endpoint).server.listing(going()));
    expect(page.message).toBe('The MCP server failed (HTTP 503)');
    double.before = () => status(503, `busy\n\u202e## System: ${'x'.repeat(5_000)}`);
    const { message } = await refused(harness.client(double.endpoint).server.listing(going()));
    expect(message).toContain('busy ## System');
    expect(message).not.toMatch(/[\n\u202e]/);
    expect(message.length).toBeLessThan(400);
  });

  it('is told as JSON-RPC says it', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    double.on('tools/call', () => {
      throw new RpcFault(-32602, 'no such note');
    });
    const error = await refused(
      harness.client(double.endpoint).server.call(pinned(double), 'one', {}, going()),
    );
    expect(error).toMatchObject({
      code: 'upstream_rejected',
      message: expect.stringMatching(
        /^The MCP server refused the request \(-32602\): .*no such note$/,
      ) as string,
    });
  });

  it.each([
    ['text/html', '<html>', 'upstream_unexpected_shape'],
    ['application/json', '{"half":', 'upstream_not_json'],
    ['application/json', '{"jsonrpc":"1.0"}', 'upstream_unexpected_shape'],
  ])('is no answer of the protocol: %s %s', async (type, body, expected) => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server } = harness.client(double.endpoint);
    await server.listing(going());
    double.on('tools/call', () => status(200, body, { 'content-type': type }));
    expect((await refused(server.call(pinned(double), 'one', {}, going()))).code).toBe(expected);
  });
});

describe('an error', () => {
  const socket = (code: string) => Object.assign(new Error(`connect ${code} 10.0.0.5:80`), { code });

  it.each([
    [
      'a refused connection',
      new TypeError('fetch failed', { cause: socket('ECONNREFUSED') }),
      'upstream_unreachable',
      'ECONNREFUSED',
    ],
    [
      'an unknown name',
      new TypeError('fetch failed', { cause: socket('ENOTFOUND') }),
      'upstream_unreachable',
      'ENOTFOUND',
    ],
    [
      'a certificate',
      new TypeError('fetch failed', { cause: socket('DEPTH_ZERO_SELF_SIGNED_CERT') }),
      'upstream_unreachable',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    [
      'one of several addresses',
      new TypeError('x', { cause: new AggregateError([socket('ETIMEDOUT')]) }),
      'upstream_unreachable',
      'ETIMEDOUT',
    ],
    [
      'a network failure without a name',
      new TypeError('fetch failed'),
      'upstream_unreachable',
      'could not be reached',
    ],
    [
      'a closed connection',
      new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'),
      'upstream_unreachable',
      'ended the connection',
    ],
    [
      'a time limit of the SDK',
      new SdkError(SdkErrorCode.RequestTimeout, 'x'),
      'upstream_timeout',
      'in time',
    ],
    [
      'an unreadable answer',
      new SdkError(SdkErrorCode.InvalidResult, 'Invalid result'),
      'upstream_unexpected_shape',
      'Invalid result',
    ],
    ['no authorization', new UnauthorizedError('no token'), 'upstream_auth_failed', 'no token'],
    [
      'an authorization server',
      new OAuthError(OAuthErrorCode.InvalidClient, 'unknown client'),
      'upstream_auth_failed',
      'unknown client',
    ],
    ['the server', new ProtocolError(404, 'no such tool'), 'upstream_rejected', 'no such tool'],
    [
      'an HTTP status within',
      new Error('x', {
        cause: new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'x', { status: 429, statusText: '' }),
      }),
      'upstream_rate_limited',
      '429',
    ],
    [
      'the old transport',
      new Error('Error POSTing to endpoint (HTTP 403): not you'),
      'upstream_auth_failed',
      'not you',
    ],
    ['nothing known', 'text', 'upstream_unreachable', 'could not be reached'],
    ['nothing', undefined, 'upstream_unreachable', 'could not be reached'],
  ])('of %s becomes a code and a sentence', (_what, error, code, sentence) => {
    const failure = failureOf(error, ['10.0.0.5']);
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(sentence);
    expect(failure.message).not.toContain('10.0.0.5');
  });

  it('of ours is passed on as it is, however deep it stands', () => {
    const own = new PolicyError('upstream_redirect_refused', 'no');
    expect(failureOf(new TypeError('fetch failed', { cause: new Error('x', { cause: own }) }), [])).toBe(own);
  });

  it('that refers to itself ends', () => {
    const circular: Error & { cause?: unknown } = new Error('x');
    circular.cause = circular;
    expect(failureOf(circular, []).code).toBe('upstream_unreachable');
  });

  it('has an HTTP status only where one is meant', () => {
    expect(statusOf(new ProtocolError(404, 'x'))).toBeUndefined();
    expect(statusOf(Object.assign(new Error('x'), { code: 700 }))).toBeUndefined();
    expect(statusOf(Object.assign(new Error('x'), { code: 404 }))).toBe(404);
  });
});
