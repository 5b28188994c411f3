import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { PolicyError } from './errors';

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
        embeddedIn(groups).some((address4) => forbidden.check(address4, 'ipv4'))
      );
    }
    default:
      return true;
  }
}

/** Whether an address, or the IPv4 address that it stands for, is in one of the networks of `list`. */
export function isInNetworks(list: BlockList, address: string): boolean {
  const [literal = ''] = address.split('%');
  if (isIP(literal) === 4) return list.check(literal, 'ipv4');
  if (isIP(literal) !== 6) return false;
  const groups = groupsOf(literal);
  if (list.check(literal, 'ipv6')) return true;
  return !isLoopback(groups) && embeddedIn(groups).some((address4) => list.check(address4, 'ipv4'));
}

/** The IPv4 addresses that an IPv6 address can stand for. */
function embeddedIn(groups: readonly number[]): string[] {
  return EMBEDDING.filter(({ prefix }) => prefix.every((group, index) => groups[index] === group)).map(
    ({ at }) => ipv4Of(groups[at] ?? 0, groups[at + 1] ?? 0),
  );
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

/** The address of a host that is written as one; such a host never reaches a DNS look-up. */
export function literalAddress(hostname: string): string | undefined {
  const address = hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? undefined : address;
}

/** For hosts that are written as an address. */
export function refuseForbiddenHost(hostname: string): void {
  const address = literalAddress(hostname);
  if (address !== undefined && isForbiddenAddress(address)) throw refusal();
}

/**
 * A DNS look-up that gives only allowed addresses, so that a name cannot be re-pointed after a check.
 *
 * @param refusalOf the error for a name none of whose addresses may be reached
 */
export function lookupOf(
  isAllowed: (address: string) => boolean,
  refusalOf: (hostname: string) => Error,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) {
        callback(error, '', 0);
        return;
      }
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (!first) callback(refusalOf(hostname), '', 0);
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

export const guardedLookup = lookupOf((address) => !isForbiddenAddress(address), refusal);
