import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { HostError } from '../hosts/errors';

/** A program that a suite needs and that comes from Debian and not from npm. */
export interface Service {
  /** The file name of its binary. */
  binary: string;
  /** The Debian package that holds it. */
  aptPackage: string;
  /** Folders to look into besides PATH: Debian keeps some servers out of it. */
  folders?: readonly string[];
  /** Absolute paths that have to be there besides: an application may be nothing but files. */
  files?: readonly string[];
}

/** Looks a service's binary up; null if it, or another file of the service, is not there. */
export function findBinary(service: Service): string | null {
  if (!(service.files ?? []).every((file) => existsSync(file))) return null;
  const onPath = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  for (const folder of [...onPath, '/usr/bin', '/usr/sbin', ...(service.folders ?? [])]) {
    const file = join(folder, service.binary);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/**
 * The binary of a service that `suite` needs, or null after one line that says what was skipped and how to
 * get it. For the top level of a suite: `(requireService('prometheus', PROMETHEUS) ? describe :
 * describe.skip)('…')`. CI sets REQUIRE_SERVICES=1, so that nothing is skipped there unnoticed.
 *
 * @throws HostError `service_missing` if REQUIRE_SERVICES=1 and the binary is absent
 */
export function requireService(suite: string, service: Service): string | null {
  const found = findBinary(service);
  if (found !== null) return found;
  const what = service.files ? service.aptPackage : service.binary;
  const reason = `${what} is not installed (apt-get install ${service.aptPackage})`;
  if (process.env['REQUIRE_SERVICES'] === '1') throw new HostError('service_missing', `${suite}: ${reason}`);
  process.stderr.write(`SKIPPED ${suite}: ${reason}\n`);
  return null;
}
