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
forbidden.addAddress('::', 'ipv6');
forbidden.addSubnet('fe80::', 10, 'ipv6');
forbidden.addSubnet('ff00::', 8, 'ipv6');
forbidden.addAddress('fd00:ec2::254', 'ipv6');

/** IPv4 inside IPv6: mapped (::ffff:0:0/96) and translated (64:ff9b::/96), which a BlockList sees as IPv6 only. */
const EMBEDDED_IPV4 = /^(?:::ffff:|64:ff9b::)(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;

/** Whether a connection to this address is never allowed. `address` is an IP literal without brackets. */
export function isForbiddenAddress(address: string): boolean {
  const embedded = EMBEDDED_IPV4.exec(address);
  if (embedded) {
    const [, dotted, high, low] = embedded;
    if (dotted !== undefined) return forbidden.check(dotted, 'ipv4');
    const bits = (parseInt(high ?? '0', 16) << 16) | parseInt(low ?? '0', 16);
    return forbidden.check([24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.'), 'ipv4');
  }
  switch (isIP(address)) {
    case 4:
      return forbidden.check(address, 'ipv4');
    case 6:
      return forbidden.check(address, 'ipv6');
    default:
      return true;
  }
}

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
