import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { PolicyError } from '../policy/errors';

/**
 * Addresses that no upstream has: link-local (cloud metadata answers there), multicast, unspecified, reserved and
 * the metadata addresses of clouds that use others. Loopback and private networks are where upstreams live.
 */
const forbidden = new BlockList();
forbidden.addSubnet('0.0.0.0', 8, 'ipv4');
forbidden.addSubnet('169.254.0.0', 16, 'ipv4');
forbidden.addSubnet('224.0.0.0', 4, 'ipv4');
forbidden.addSubnet('240.0.0.0', 4, 'ipv4');
forbidden.addAddress('100.100.100.200', 'ipv4');
forbidden.addAddress('168.63.129.16', 'ipv4');
forbidden.addAddress('192.0.0.192', 'ipv4');
forbidden.addAddress('::', 'ipv6');
forbidden.addSubnet('fe80::', 10, 'ipv6');
forbidden.addSubnet('ff00::', 8, 'ipv6');
forbidden.addSubnet('fd00:ec2::', 32, 'ipv6');
forbidden.addAddress('fd20:ce::254', 'ipv6');

/**
 * IPv6 prefixes behind which an IPv4 address stands, and the group where it begins: compatible, mapped, translated
 * (SIIT), NAT64 (global and of a local network), 6to4.
 */
const EMBEDDING: readonly { prefix: readonly number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 },
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 1], at: 6 },
  { prefix: [0x2002], at: 1 },
];

/** Whether a connection to this address is never allowed. `address` is an IP literal without brackets. */
export function isForbiddenAddress(address: string): boolean {
  const [literal = ''] = address.split('%');
  switch (isIP(literal)) {
    case 4:
      return forbidden.check(literal, 'ipv4');
    case 6: {
      const groups = groupsOf(literal);
      if (isLoopback(groups)) return false;
      return (
        forbidden.check(literal, 'ipv6') ||
        EMBEDDING.some(
          ({ prefix, at }) =>
            prefix.every((group, index) => groups[index] === group) &&
            forbidden.check(ipv4Of(groups[at] ?? 0, groups[at + 1] ?? 0), 'ipv4'),
        )
      );
    }
    default:
      return true;
  }
}

/** The eight groups of an IPv6 address in whatever spelling. */
function groupsOf(address: string): number[] {
  const normal = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [left = [], right = []] = normal
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].map((group) => parseInt(group, 16));
}

const isLoopback = (groups: readonly number[]) =>
  groups.every((group, index) => group === (index === 7 ? 1 : 0));

const ipv4Of = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255].join('.');

function refusal(): PolicyError {
  return new PolicyError(
    'upstream_address_refused',
    'The upstream address is link-local, multicast or reserved; set another base address in the credential.',
  );
}

/** For hosts that are written as an address: these never reach a DNS look-up. */
export function refuseForbiddenHost(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isForbiddenAddress(address)) throw refusal();
}

/** A DNS look-up that gives only allowed addresses, so that a name cannot be re-pointed after a check. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) {
      callback(error, '', 0);
      return;
    }
    const allowed = addresses.filter(({ address }) => !isForbiddenAddress(address));
    const [first] = allowed;
    if (!first) callback(refusal(), '', 0);
    else if (options.all) callback(null, allowed);
    else callback(null, first.address, first.family);
  });
};
