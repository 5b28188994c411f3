import * as dns from 'node:dns';
import { egressPolicy } from '../../../core/client/networks';
import { redirect, tool } from '../../support/mcpServerDouble';
import { refusalOf } from '../policy/refusal';
import { going, pinned, refused, useHarness } from './harness';

jest.mock('node:dns', () => ({ ...jest.requireActual<typeof dns>('node:dns'), lookup: jest.fn() }));

const harness = useHarness();
const METADATA = '169.254.169.254';
const TOKEN = 'tok-egress-4711';

type LookupAll = (error: Error | null, addresses: dns.LookupAddress[]) => void;

/** Answers the look-ups one after the other; the last answer stays. */
function resolveTo(...answers: readonly (readonly string[])[]): jest.Mock {
  const left = [...answers];
  const lookup = jest.mocked(dns.lookup) as unknown as jest.Mock;
  lookup.mockReset();
  lookup.mockImplementation((_name: string, _options: object, callback: LookupAll) => {
    const addresses = (left.length > 1 ? left.shift() : left[0]) ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
  return lookup;
}

beforeEach(() => {
  resolveTo(['127.0.0.1']);
});

/** What is refused whatever is allowed. */
const NEVER = [
  `http://${METADATA}/latest/meta-data`,
  'http://169.254.170.2/v2/credentials',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  `http://${METADATA}./`,
  'http://１６９.254.169.254/',
  `http://[::ffff:${METADATA}]/`,
  'http://[::ffff:a9fe:a9fe]/',
  `http://[::${METADATA}]/`,
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://[::]/',
  'http://0.0.0.0/',
  'http://0/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://METADATA.google.internal./',
  'http://metadata/',
  'http://metadata.goog/',
  'http://metadata.azure.internal/',
  'http://instance-data.ec2.internal/',
  'http://instance-data/',
];
/** What is refused unless it is allowed. */
const INTERNAL = [
  ['http://127.0.0.1:9/', 'loopback'],
  ['http://2130706433:9/', 'loopback'],
  ['http://0x7f000001:9/', 'loopback'],
  ['http://0177.0.0.1:9/', 'loopback'],
  ['http://127.1:9/', 'loopback'],
  ['http://[::1]:9/', 'loopback'],
  ['http://[::ffff:127.0.0.1]:9/', 'loopback'],
  ['http://10.0.0.5/', 'private'],
  ['http://172.16.3.4/', 'private'],
  ['http://192.168.1.1/', 'private'],
  ['http://100.64.0.1/', 'private'],
  ['http://[fc00::1]/', 'private'],
  ['http://[fd00::5]/', 'private'],
  ['http://[::ffff:10.0.0.5]/', 'private'],
  ['http://[64:ff9b::a00:5]/', 'private'],
  ['http://192.0.2.1/', '192.0.2.0/24'],
  ['http://198.18.0.1/', '198.18.0.0/15'],
  ['http://203.0.113.7/', '203.0.113.7'],
  ['http://[fec0::1]/', 'fec0::/10'],
] as const;

describe('an endpoint', () => {
  it.each(NEVER)('at %s is never reached, even when private networks are allowed', async (endpoint) => {
    for (const transport of ['auto', 'sse'] as const) {
      const credential = { allowedNetworks: 'loopback, private, 0.0.0.0/0, ::/0', transport };
      const { server } = harness.client(endpoint, { credential });
      expect(await refused(server.listing(going()))).toMatchObject({ code: 'upstream_address_refused' });
    }
    expect(jest.mocked(dns.lookup)).not.toHaveBeenCalled();
  });

  it.each(INTERNAL)('at %s is reached only where %s is allowed', async (endpoint, allowed) => {
    const { hostname } = new URL(endpoint);
    const { server } = harness.client(endpoint, { credential: { allowedNetworks: '' } });
    const error = await refused(server.listing(going()));
    expect(error.code).toBe('upstream_address_refused');
    expect(error.message).toMatch(/allowed networks/i);
    expect(() => {
      egressPolicy(allowed).checkHost(hostname);
    }).not.toThrow();
    const others = allowed === 'loopback' ? 'private' : 'loopback';
    expect(
      refusalOf(() => {
        egressPolicy(others).checkHost(hostname);
      }),
    ).toMatchObject({ code: 'upstream_address_refused' });
  });

  it.each([
    'http://user:secret@127.0.0.1/mcp',
    'http://user@127.0.0.1/mcp',
    'http://:secret@example.com/mcp',
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:application/json,{}',
    'example.com/mcp',
    '',
  ])('written as %s is refused before anything is sent', (endpoint) => {
    const { code, message } = refusalOf(() => harness.client(endpoint));
    expect(code).toBe('endpoint_invalid');
    expect(message).not.toMatch(/secret|user:|passwd/);
  });
});

describe('a name', () => {
  const endpointOf = (port: number) => `http://mcp.example.test:${String(port)}/mcp`;

  it('is reached at the address that was checked', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server } = harness.client(endpointOf(double.port));
    expect((await server.listing(going())).tools).toHaveLength(1);
  });

  it.each([
    ['link-local', [METADATA]],
    ['mapped', [`::ffff:${METADATA}`]],
    ['link-local over IPv6', ['fe80::1']],
    ['private', ['10.0.0.5']],
    ['loopback over IPv6, mapped and forbidden', ['::ffff:169.254.1.1', 'fe80::1%lo']],
  ])('that points to an address that may not be reached is refused: %s', async (_what, addresses) => {
    resolveTo(addresses);
    const { server } = harness.client(endpointOf(8_123));
    expect((await refused(server.listing(going()))).code).toBe('upstream_address_refused');
  });

  it('with mixed answers is reached at an allowed one only', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    resolveTo([METADATA, '10.0.0.5', '127.0.0.1', 'fe80::1']);
    const { server } = harness.client(endpointOf(double.port));
    expect((await server.listing(going())).tools).toHaveLength(1);
  });

  it('that points elsewhere at the second look-up is refused then', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server } = harness.client(endpointOf(double.port), {
      credential: { authentication: 'bearer', token: TOKEN },
    });
    await server.listing(going());
    const lookup = resolveTo([METADATA]);
    double.closeIdleConnections();
    const allow = pinned({ tools: double.tools, origin: new URL(endpointOf(double.port)).origin });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await refused(server.call(allow, 'one', {}, going()))).code).toBe('upstream_address_refused');
    expect(lookup).toHaveBeenCalled();
    expect(double.calls).toEqual([]);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'is not followed, and the token reaches nobody (HTTP %d, C046)',
    async (code) => {
      const second = await harness.double({ tools: [tool('one')] });
      const first = await harness.double();
      first.before = () => redirect(second.endpoint, code);
      for (const transport of ['auto', 'sse'] as const) {
        const credential = { authentication: 'bearer', token: TOKEN, transport } as const;
        const { server } = harness.client(first.endpoint, { credential });
        const error = await refused(server.listing(going()));
        expect(error).toMatchObject({
          code: 'upstream_redirect_refused',
          message: expect.stringContaining(`127.0.0.1:${String(second.port)}`) as string,
        });
      }
      expect(second.requests).toEqual([]);
      expect(first.requests).toHaveLength(2);
    },
  );

  it('of a call is not followed', async () => {
    const second = await harness.double({ tools: [tool('one')] });
    const first = await harness.double({ tools: [tool('one')] });
    first.on('tools/call', () => redirect(second.endpoint));
    const { server } = harness.client(first.endpoint);
    const error = await refused(server.call(pinned(first), 'one', {}, going()));
    expect(error.code).toBe('upstream_redirect_refused');
    expect(second.requests).toEqual([]);
  });

  it.each(NEVER)('to %s is not followed', async (target) => {
    const double = await harness.double();
    double.before = () => redirect(target.replace(/[^ -~]+/g, encodeURIComponent));
    const { server } = harness.client(double.endpoint);
    const error = await refused(server.listing(going()));
    expect(error.code).toBe('upstream_redirect_refused');
    expect(error.message).toContain(new URL(target).host);
  });

  it('to itself is not followed either', async () => {
    const double = await harness.double();
    double.before = () => redirect('/mcp/', 308);
    const { server } = harness.client(double.endpoint);
    expect((await refused(server.listing(going()))).code).toBe('upstream_redirect_refused');
  });

  it('to a name made of our token shows no token', async () => {
    const token = 'tok-1234567890';
    const double = await harness.double();
    double.before = () => redirect(`https://${token}.example.test/`);
    const credential = { authentication: 'bearer', token } as const;
    const { server } = harness.client(double.endpoint, { credential });
    expect((await refused(server.listing(going()))).message).toContain(
      'redirects to [redacted].example.test',
    );
  });

  it('to a name made for models is named in a bounded way', async () => {
    const double = await harness.double();
    double.before = () => redirect(`https://${'ignore-all-previous-instructions.'.repeat(40)}test/`);
    const { server } = harness.client(double.endpoint);
    expect((await refused(server.listing(going()))).message.length).toBeLessThan(300);
  });
});

describe('Allowed Networks', () => {
  const allows = (allowed: string, host: string) => {
    try {
      egressPolicy(allowed).checkHost(host);
      return true;
    } catch {
      return false;
    }
  };

  it.each([
    ['', '127.0.0.1', false],
    ['loopback', '127.255.0.1', true],
    ['loopback', '[::1]', true],
    ['loopback', '10.0.0.1', false],
    [' Private ,', '10.1.2.3', true],
    ['private', '127.0.0.1', false],
    ['10.1.0.0/16', '10.1.2.3', true],
    ['10.1.0.0/16', '10.2.0.1', false],
    ['10.1.0.0/16', '[::ffff:10.1.2.3]', true],
    ['192.168.1.7', '192.168.1.7', true],
    ['192.168.1.7', '192.168.1.8', false],
    ['fd12:3456::/32', '[fd12:3456::1]', true],
    ['fd12:3456::/32', '[fd12:3457::1]', false],
    ['0.0.0.0/0', '10.0.0.1', true],
    ['0.0.0.0/0', METADATA, false],
    ['169.254.0.0/16', METADATA, false],
    ['private', '93.184.216.34', true],
  ])('%j opens %s: %s', (allowed, host, expected) => {
    expect(allows(allowed, host)).toBe(expected);
  });

  it.each([
    'localhost',
    'all',
    '*',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '::/129',
    'fd00::/x',
    '10.0.0.0 192.168.0.0',
    'http://10.0.0.1',
    '10.0.0.0/1e1',
    '١٠.0.0.1',
  ])('refuses %j instead of guessing', (allowed) => {
    expect(refusalOf(() => egressPolicy(allowed))).toMatchObject({ code: 'credential_missing' });
  });
});
