import { identityOf } from '../../core/client/identity';
import type { CallOutcome } from '../../core/client/result';
import { parsePaths, type PathSegment } from '../../core/contract/paths';
import type { Contract } from '../../core/contract/schema';
import { ERROR_RULES, PolicyError } from '../../core/policy/errors';
import { foreignText, REDACTED } from '../../core/policy/redaction';
import { safeReads, type SafeRead } from './safeRead';
import type { Session } from './verifyConsumer';
import type { SurfaceReport } from './verifyReport';

interface Failure {
  readonly code: string;
  readonly message: string;
}

const MESSAGE_CHARACTERS = 300;

/** One real call through the surface to the application behind it, by whichever consumer may make it. */
export async function verifyRead(
  endpoint: string,
  contract: Contract,
  sessions: readonly Session[],
  report: SurfaceReport,
  signal: AbortSignal,
): Promise<void> {
  const chosen = choose(contract, sessions);
  if (!('read' in chosen)) {
    skipAll(report, null, chosen);
    return;
  }
  const { read, session } = chosen;
  const { consumer } = session;
  const { name } = read.operation;
  const outcome = await call(endpoint, read, session, signal);
  if ('code' in outcome) {
    report.failed('read', consumer, outcome.code, `${name}: ${outcome.message}`);
    if (outcome.code === 'upstream_auth_failed') {
      report.failed('upstream_credential', consumer, outcome.code, `${name}: ${outcome.message}`);
    } else {
      const message = `${name} failed before or beside the credential, so nothing is known of it.`;
      report.skipped('upstream_credential', consumer, outcome.code, message);
    }
    report.skipped('redaction', consumer, outcome.code, 'There is no answer to look at.');
    return;
  }
  report.passed('read', consumer, `${name} answered in the shape of the contract.`);
  report.passed('upstream_credential', consumer, `The application let ${name} read.`);
  verifyRedaction(read, outcome, consumer, report);
}

function choose(
  contract: Contract,
  sessions: readonly Session[],
): { read: SafeRead; session: Session } | Failure {
  if (sessions.length === 0) {
    return { code: 'no_session', message: 'No consumer whose bearer is known was let in.' };
  }
  const reads = safeReads(contract);
  for (const read of reads) {
    const session = sessions.find(({ exact }) => exact.has(read.operation.name));
    if (session) return { read, session };
  }
  return reads.length > 0
    ? {
        code: 'tool_not_granted',
        message: `No consumer that was let in may call ${reads.map(({ operation }) => operation.name).join(', ')} as it is pinned.`,
      }
    : {
        code: 'no_argument_free_tool',
        message: 'Every tool needs an argument for which the contract has no value, so none is called.',
      };
}

function skipAll(report: SurfaceReport, consumer: string | null, { code, message }: Failure): void {
  for (const check of ['read', 'upstream_credential', 'redaction'] as const) {
    report.skipped(check, consumer, code, message);
  }
}

async function call(
  endpoint: string,
  { operation: { name }, args }: SafeRead,
  { server, expected }: Session,
  signal: AbortSignal,
): Promise<CallOutcome | Failure> {
  const tools = expected.map(({ descriptor, pin }) => ({ name: descriptor.name, pin }));
  const reviewed = new Map(expected.map(({ descriptor, pin }) => [pin, descriptor]));
  try {
    const { identity } = await server.describe(signal);
    const pinned = identityOf(identity.name, new URL(endpoint));
    const outcome = await server.call(
      { server: pinned, tools, catalogue: undefined, reviewed },
      name,
      args,
      signal,
    );
    if (outcome.isError) return failureOf(outcome);
    if (outcome.structured === undefined) {
      return { code: 'upstream_unexpected_shape', message: 'The answer holds no structured content.' };
    }
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PolicyError) return error;
    throw error;
  }
}

/** A failed call of our own server starts with its stable code. */
function failureOf({ content }: CallOutcome): Failure {
  const [block] = content;
  const text = block?.type === 'text' ? block.text : '';
  const [, code = '', sentence = ''] = /^([a-z_]+): ([^]*)$/.exec(text) ?? [];
  return Object.hasOwn(ERROR_RULES, code)
    ? { code, message: foreignText(sentence, MESSAGE_CHARACTERS) }
    : { code: 'tool_failed', message: foreignText(text, MESSAGE_CHARACTERS) };
}

/** Every value at a path that the contract redacts is gone from the answer. */
function verifyRedaction(
  { operation: { name, response } }: SafeRead,
  { structured }: CallOutcome,
  consumer: string,
  report: SurfaceReport,
): void {
  const records = response.items === null ? [structured] : (structured as { items: unknown[] }).items;
  const found = parsePaths(response.redact).map((path, index) => ({
    path: response.redact[index] ?? '',
    values: records.flatMap((record) => valuesAt(record, path)),
  }));
  const shown = found.filter(({ values }) => values.some((value) => value !== REDACTED && value !== null));
  const seen = found.flatMap(({ values }) => values).length;
  if (shown.length > 0) {
    const paths = shown.map(({ path }) => path).join(', ');
    report.failed('redaction', consumer, 'redaction_missing', `${name} shows ${paths} unredacted.`);
  } else if (seen > 0) {
    report.passed('redaction', consumer, `${String(seen)} values of ${name} are redacted or null.`);
  } else {
    const message =
      response.redact.length === 0
        ? `The contract redacts nothing of ${name}.`
        : `The answer of ${name} held none of the fields that are redacted.`;
    report.skipped('redaction', consumer, 'nothing_to_redact', message);
  }
}

function valuesAt(value: unknown, path: readonly PathSegment[]): unknown[] {
  const [segment, ...rest] = path;
  if (segment === undefined) return [value];
  if (value === null || typeof value !== 'object') return [];
  const container = value as Record<string, unknown>;
  if (segment.kind === 'each') return Object.values(container).flatMap((entry) => valuesAt(entry, rest));
  return Object.hasOwn(container, segment.key) ? valuesAt(container[segment.key], rest) : [];
}
