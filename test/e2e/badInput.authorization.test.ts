import { expectNothingLeaked, expectRefusal, type ExpectedRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { rpc } from '../support/mcpRequest';
import { executionsOf } from '../support/executions';
import { newBearer, ownApi, publishContract, type TestSurface } from '../support/publish';
import type { RawResponse } from '../support/rawHttp';

const wrong = newBearer();

type Send = (surface: TestSurface) => Promise<RawResponse>;
type Row = [name: string, send: Send, expected: ExpectedRefusal];

const list = (surface: TestSurface, ...headers: [string, string][]) =>
  rpc(surface, 'tools/list', undefined, { headers });
const authorized = (value: string) => (surface: TestSurface) => list(surface, ['Authorization', value]);

const AUTHORIZATION: Row[] = [
  ['no Authorization', (s) => rpc({ ...s, bearer: null }, 'ping'), { status: 401, code: 'bearer_missing' }],
  ['an empty Authorization', authorized(''), { status: 401, code: 'bearer_missing' }],
  ['a wrong bearer', authorized(`Bearer ${wrong}`), { status: 401, code: 'bearer_invalid' }],
  [
    'a bearer in the wrong case',
    (s) => authorized(`Bearer ${swapCase(s.bearer)}`)(s),
    { status: 401, code: 'bearer_invalid' },
  ],
  [
    'a bearer with something after it',
    (s) => authorized(`Bearer ${s.bearer} x`)(s),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'two bearers in one header',
    (s) => authorized(`Bearer ${wrong}, Bearer ${s.bearer}`)(s),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'the same Authorization twice',
    (s) => list(s, ['Authorization', `Bearer ${s.bearer}`], ['Authorization', `Bearer ${s.bearer}`]),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'a good and a wrong Authorization',
    (s) => list(s, ['Authorization', `Bearer ${s.bearer}`], ['authorization', `Bearer ${wrong}`]),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'an oversized Authorization',
    authorized(`Bearer ${'a'.repeat(8_000)}`),
    { status: 401, code: 'bearer_malformed' },
  ],
  ['Basic', authorized('Basic dXNlcjpwdw=='), { status: 401, code: 'bearer_malformed' }],
  ['the bearer without a scheme', (s) => authorized(s.bearer)(s), { status: 401, code: 'bearer_malformed' }],
  [
    'the bearer in the query only',
    (s) => rpc({ url: `${s.url}?access_token=${s.bearer}`, bearer: null }, 'ping'),
    { status: 401, code: 'bearer_missing' },
  ],
];

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
}

describe.each(hosts())('bad Authorization on n8n $version', (host) => {
  let surface: TestSurface;
  beforeAll(async () => {
    surface = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'bad-auth',
      upstream: ownApi(host),
    });
  });
  afterAll(async () => {
    await surface.remove();
  });
  afterEach(async () => {
    // The next request works, whatever the one before was.
    expect((await rpc(surface, 'ping')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each(AUTHORIZATION)('refuses %s as not authorized', async (_name, send, expected) => {
    const response = await send(surface);
    expectRefusal(response, { ...expected, forbidden: [surface.bearer, wrong, host.apiKey] });
    expect(response.headers['www-authenticate']).toMatch(/^Bearer realm="mcp"/);
    expect(response.headers['www-authenticate']).not.toContain('resource_metadata');
    expect(response.text.length).toBeLessThan(500);
    expect(response.text).not.toContain('n8n_list');
  });

  it('leaves an Authorization that Node itself refuses to Node', async () => {
    const response = await authorized(`Bearer ${'a'.repeat(40_000)}`)(surface);
    expect(response.status).toBe(431);
    expectNothingLeaked(response);
  });

  it.each(['bearer', 'BEARER', 'BeArEr'])('accepts the scheme spelled %s', async (scheme) => {
    expect((await authorized(`${scheme} ${surface.bearer}`)(surface)).status).toBe(200);
  });

  it('starts no execution for a caller that is not identified', async () => {
    await expect(executionsOf(host, surface.workflowId)).resolves.toEqual([]);
  });

  itKeepsTheLogClean(host, () => [surface.bearer, wrong]);
});
