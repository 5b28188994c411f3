import { BlockList, isIP } from 'node:net';
import { isForbiddenAddress, isInNetworks, literalAddress, lookupOf } from '../policy/address';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';

/** Networks that are not the internet. A server there is reached only where the operator says so. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
/** Nobody's servers: documentation, benchmarks, protocol assignments, site-local. */
const NEVER_PUBLIC = [
  '192.0.0.0/24',
  '192.0.2.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  'fec0::/10',
];

const internal = listOf([...LOOPBACK, ...PRIVATE, ...NEVER_PUBLIC]);

/** Names under which clouds serve instance credentials, refused before anybody is asked for their address. */
const METADATA_NAMES =
  /^(?:metadata|instance-data|metadata\.google\.internal|instance-data\.ec2\.internal|metadata\.azure\.internal|metadata\.goog)$/;

/** Decides to which addresses a connection may go. */
export interface EgressPolicy {
  /** @throws PolicyError `upstream_address_refused` for a host that is written as an address, or a metadata name */
  checkHost(hostname: string): void;
  /** A DNS look-up that gives only allowed addresses: the checked address is the one that is connected to. */
  readonly lookup: ReturnType<typeof lookupOf>;
}

/**
 * Link-local, metadata, multicast and unspecified addresses are never reached; loopback and private networks only
 * where `allowed` names them.
 *
 * @param allowed by commas: `loopback`, `private`, an address or a network such as `10.1.0.0/16`
 * @throws PolicyError `credential_missing` for an entry that is none of these
 */
export function egressPolicy(allowed: string): EgressPolicy {
  const opened = listOf(entriesOf(allowed));
  const isAllowed = (address: string) =>
    !isForbiddenAddress(address) && (!isInNetworks(internal, address) || isInNetworks(opened, address));
  return {
    checkHost: (hostname) => {
      const name = hostname.toLowerCase().replace(/\.$/, '');
      const address = literalAddress(name);
      if (METADATA_NAMES.test(name) || (address !== undefined && !isAllowed(address)))
        throw refusal(hostname);
    },
    lookup: lookupOf(isAllowed, refusal),
  };
}

function refusal(hostname: string): PolicyError {
  return new PolicyError(
    'upstream_address_refused',
    `${foreignText(hostname, 120)} is at an address that may not be reached; if it is an internal server of yours, add its network to the allowed networks.`,
  );
}

function entriesOf(allowed: string): string[] {
  return allowed
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .flatMap((entry) => (entry === 'loopback' ? LOOPBACK : entry === 'private' ? PRIVATE : [entry]));
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits, ...rest] = network.split('/');
    const family = isIP(address);
    const length =
      bits === undefined ? (family === 4 ? 32 : 128) : /^\d{1,3}$/.test(bits) ? Number(bits) : NaN;
    if (family === 0 || rest.length > 0 || !(length >= 0 && length <= (family === 4 ? 32 : 128))) {
      throw new PolicyError(
        'credential_missing',
        'Allowed Networks cannot be used: write loopback, private, or networks such as 10.1.0.0/16, by commas.',
      );
    }
    list.addSubnet(address, length, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
