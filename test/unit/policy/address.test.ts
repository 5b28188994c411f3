import * as dns from 'node:dns';
import { guardedLookup, isForbiddenAddress, refuseForbiddenHost } from '../../../core/policy/address';
import { createTransport } from '../../../core/upstream/transport';

jest.mock('node:dns', () => ({ ...jest.requireActual<typeof dns>('node:dns'), lookup: jest.fn() }));

const METADATA = '169.254.169.254';

describe('addresses', () => {
  it.each([
    ['cloud metadata', METADATA],
    ['container credentials', '169.254.170.2'],
    ['metadata of Alibaba Cloud', '100.100.100.200'],
    ['metadata of Oracle Cloud', '192.0.0.192'],
    ['the wire server of Azure', '168.63.129.16'],
    ['metadata of AWS over IPv6', 'fd00:ec2::254'],
    ['metadata of Google Cloud over IPv6', 'fd20:ce::254'],
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified IPv6', '::'],
    ['link-local IPv6', 'fe80::1'],
    ['link-local IPv6 with its interface', 'fe80::1%eth0'],
    ['link-local IPv6 at the end of its range', 'febf::1'],
    ['multicast IPv6', 'ff02::1'],
    ['mapped', `::ffff:${METADATA}`],
    ['mapped in hexadecimal', '::ffff:a9fe:a9fe'],
    ['mapped and written out', '0:0:0:0:0:ffff:a9fe:a9fe'],
    ['mapped in capitals', '::FFFF:A9FE:A9FE'],
    ['mapped unspecified', '::ffff:0:0'],
    ['compatible', `::${METADATA}`],
    ['translated (SIIT)', '::ffff:0:a9fe:a9fe'],
    ['NAT64', '64:ff9b::a9fe:a9fe'],
    ['NAT64 dotted', `64:ff9b::${METADATA}`],
    ['NAT64 of a local network', '64:ff9b:1::a9fe:a9fe'],
    ['6to4', '2002:a9fe:a9fe::1'],
    ['no address at all', 'localhost'],
    ['nothing', ''],
    ['half an address', '169.254'],
  ])('are never reached: %s', (_what, address) => {
    expect(isForbiddenAddress(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '10.0.0.5',
    '172.16.3.4',
    '192.168.1.1',
    '100.64.0.1',
    '93.184.216.34',
    '169.253.255.255',
    '::1',
    'fd00::5',
    'fc00::1',
    '2606:2800:220:1::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.5',
    '64:ff9b::a00:5',
    '2002:a00:5::1',
  ])('are where upstreams live: %s', (address) => {
    expect(isForbiddenAddress(address)).toBe(false);
  });
});

describe('hosts written as an address', () => {
  it.each([
    METADATA,
    '2852039166',
    '0xa9fea9fe',
    '0xa9.0xfe.0xa9.0xfe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.254.169.254.',
    '１６９.254.169.254',
    '[::ffff:169.254.169.254]',
    '[0:0:0:0:0:ffff:a9fe:a9fe]',
    '[fe80::1]',
    '0',
  ])('are refused in every spelling that a URL understands: %s', (host) => {
    expect(() => {
      refuseForbiddenHost(new URL(`http://${host}/`).hostname);
    }).toThrow(/link-local, multicast or reserved/);
  });

  it.each(['127.0.0.1', '2130706433', '[::1]', 'prometheus', 'metadata.google.internal'])(
    'pass when allowed or when DNS decides: %s',
    (host) => {
      expect(() => {
        refuseForbiddenHost(new URL(`http://${host}/`).hostname);
      }).not.toThrow();
    },
  );
});

describe('names', () => {
  /** Lets the next look-ups answer with these addresses. */
  const resolveTo = (...addresses: string[]) => {
    const entries = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    jest.mocked(dns.lookup).mockImplementation(((_name: string, _options: object, callback: LookupAll) => {
      callback(null, entries);
    }) as unknown as typeof dns.lookup);
  };
  type LookupAll = (error: Error | null, addresses: dns.LookupAddress[]) => void;

  const lookUp = async (all: boolean): Promise<unknown> =>
    await new Promise((resolve) => {
      guardedLookup('app.test', { all }, (error, address) => {
        resolve(error ?? address);
      });
    });

  it('give their allowed addresses only', async () => {
    resolveTo(METADATA, '10.0.0.5', 'fe80::1%eth0', '::1');
    expect(await lookUp(false)).toBe('10.0.0.5');
    expect(await lookUp(true)).toEqual([
      { address: '10.0.0.5', family: 4 },
      { address: '::1', family: 6 },
    ]);
  });

  it.each([true, false])('with forbidden addresses alone are refused (all: %s)', async (all) => {
    resolveTo(METADATA, 'fe80::1');
    expect(await lookUp(all)).toMatchObject({ code: 'upstream_address_refused' });
  });

  it('that do not exist fail as DNS says', async () => {
    const failure = Object.assign(new Error('getaddrinfo ENOTFOUND app.test'), { code: 'ENOTFOUND' });
    jest.mocked(dns.lookup).mockImplementation(((_name: string, _options: object, callback: LookupAll) => {
      callback(failure, []);
    }) as unknown as typeof dns.lookup);
    expect(await lookUp(true)).toBe(failure);
  });

  it('that point to metadata are refused when the connection is made', async () => {
    resolveTo(METADATA);
    const attempt = createTransport()({
      method: 'GET',
      body: undefined,
      url: new URL('http://app.test/'),
      headers: {},
      signal: AbortSignal.timeout(2_000),
    });
    await expect(attempt).rejects.toMatchObject({ code: 'upstream_address_refused' });
  });
});
