/**
 * What can go wrong with a test host, as codes that a caller or a CI log can match:
 *
 * - `unknown_version`      no folder test/hosts/<version> with a package.json and a lock file
 * - `node_unavailable`     no Node binary of the needed major version, and none can be installed
 * - `npm_failed`           npm or pnpm ended with an error; the message ends with its last lines
 * - `install_incomplete`   npm or pnpm succeeded and the result still cannot be used
 * - `install_locked`       another process has been installing the same thing for too long
 * - `pack_missing`         the built pack (dist/ or the tarball) is not there
 * - `pack_invalid`         the tarball is no n8n pack, or brings runtime dependencies
 * - `start_failed`         a server process died before it was ready; the message ends with its log
 * - `start_timeout`        a server process was not ready in time; the message ends with its log
 * - `setup_failed`         n8n answered the first-owner or API-key routes in an unexpected way
 * - `no_state`             the end-to-end suites run without their jest globalSetup
 * - `service_missing`      REQUIRE_SERVICES=1 and a service's binary is not installed
 */
export type HostErrorCode =
  | 'unknown_version'
  | 'node_unavailable'
  | 'npm_failed'
  | 'install_incomplete'
  | 'install_locked'
  | 'pack_missing'
  | 'pack_invalid'
  | 'start_failed'
  | 'start_timeout'
  | 'setup_failed'
  | 'no_state'
  | 'service_missing';

/** An error with a code from {@link HostErrorCode} and a sentence that says what to do. Holds no secret. */
export class HostError extends Error {
  constructor(
    readonly code: HostErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${message}`, options);
    this.name = 'HostError';
  }
}

/** One line for a person who waits: no newline, no secret. */
export type Progress = (line: string) => void;

/** The default {@link Progress}: a line on stderr, so that stdout stays free for results. */
export const progressToStderr: Progress = (line) => {
  process.stderr.write(`[hosts] ${line}\n`);
};

/** The last `count` non-empty lines of a text. */
export function lastLines(text: string, count: number): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
}

/** True if a value is the kind of error that Node gives for a failed system call, with this code. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
