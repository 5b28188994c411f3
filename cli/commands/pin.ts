import { readFile } from 'node:fs/promises';
import { serverAccess, type ServerCredential, type TransportChoice } from '../../core/client/access';
import { parsePins, pinText } from '../../core/client/allowlist';
import { differenceText } from '../../core/client/verify';
import { ListingCache } from '../../core/client/listingCache';
import { review, type Review, type ReviewedTool } from '../../core/client/review';
import { ToolServer } from '../../core/client/toolServer';
import { pinOf, type ToolDescriptor } from '../../core/contract/pin';
import { PolicyError } from '../../core/policy/errors';
import { foreignText } from '../../core/policy/redaction';
import type { Output } from '../output';
import { readSecret } from '../secrets';

export interface PinFlags {
  readonly transport: TransportChoice;
  /** Secret reference of a bearer. */
  readonly bearer?: string;
  /** `Name=reference` of one header. */
  readonly header?: string;
  readonly allowNetworks?: string;
  /** Tools to print; all when empty. */
  readonly only: readonly string[];
  /** A file that `--json` of this command wrote earlier. */
  readonly compare?: string;
  readonly timeout: number;
}

const RESPONSE_BYTES = 16_777_216;

/**
 * `mcp-curated pin`: what a foreign server lists, as it is pinned, and what has changed since an earlier print.
 *
 * @returns exit code: 0 nothing has changed, 2 something has
 */
export async function pinCommand(endpoint: string, flags: PinFlags, output: Output): Promise<number> {
  const before = flags.compare === undefined ? undefined : await readEarlier(flags.compare);
  const access = serverAccess(await credentialOf(endpoint, flags));
  const settings = {
    timeoutSeconds: flags.timeout,
    responseBytes: RESPONSE_BYTES,
    listAgeSeconds: 0,
    compareEveryCall: false,
  };
  const log = {
    warn: (line: string) => {
      output.error(line);
    },
    debug: () => undefined,
  };
  const server = new ToolServer(access, settings, log, new ListingCache());
  try {
    const listing = await server.listing(new AbortController().signal);
    const all = review(listing, before?.pins ?? [], (pin) => before?.known.get(pin));
    const shown = restricted(all, flags.only);
    output.result(shown, () => lines(shown, before));
    return before && hasChanged(shown, before) ? 2 : 0;
  } catch (error) {
    if (error instanceof PolicyError) throw new Error(`${error.code}: ${error.message}`, { cause: error });
    throw error;
  } finally {
    await server.close();
  }
}

async function credentialOf(endpoint: string, flags: PinFlags): Promise<ServerCredential> {
  const common = { endpoint, transport: flags.transport, allowedNetworks: flags.allowNetworks ?? '' };
  if (flags.bearer !== undefined) {
    return { ...common, authentication: 'bearer', token: await readSecret(flags.bearer) };
  }
  if (flags.header === undefined) return { ...common, authentication: 'none' };
  const [, headerName = '', reference = ''] = /^([^=]+)=(.+)$/s.exec(flags.header) ?? [];
  if (headerName === '') throw new Error('--header is written as Name=env:VARIABLE or Name=file:PATH.');
  return { ...common, authentication: 'header', headerName, headerSecret: await readSecret(reference) };
}

interface Earlier {
  readonly server: string;
  readonly pins: ReturnType<typeof parsePins>;
  readonly known: ReadonlyMap<string, ToolDescriptor>;
}

async function readEarlier(file: string): Promise<Earlier> {
  try {
    const { server, catalogue_pin, descriptors } = JSON.parse(await readFile(file, 'utf8')) as Review;
    const known = new Map(descriptors.map((descriptor) => [pinOf(descriptor), descriptor]));
    const pins = parsePins(
      descriptors.map((descriptor) => pinText({ name: descriptor.name, pin: pinOf(descriptor) })),
    );
    if (typeof server !== 'string' || typeof catalogue_pin !== 'string') throw new TypeError('no review');
    return { server, pins, known };
  } catch (error) {
    throw new Error(`${file} is no output of mcp-curated --json pin; write it anew.`, { cause: error });
  }
}

function restricted(report: Review, only: readonly string[]): Review {
  if (only.length === 0) return report;
  const missing = only.filter((name) => !report.tools.some((tool) => tool.name === name));
  if (missing.length > 0) {
    throw new Error(`The server lists no tool ${missing.map((name) => foreignText(name, 80)).join(', ')}.`);
  }
  return {
    ...report,
    tools: report.tools.filter(({ name }) => only.includes(name)),
    descriptors: report.descriptors.filter(({ name }) => only.includes(name)),
  };
}

function hasChanged({ server, tools }: Review, before: Earlier): boolean {
  return server !== before.server || tools.some(({ status }) => status !== 'unchanged');
}

function lines(report: Review, before: Earlier | undefined): string[] {
  return [
    `Server:    ${foreignText(report.server, 300)}${before && before.server !== report.server ? `   (was ${foreignText(before.server, 300)})` : ''}`,
    `Catalogue: ${report.catalogue_pin}`,
    ...(report.unreadable === 0 ? [] : [`Unreadable entries: ${String(report.unreadable)}`]),
    ...report.tools.flatMap((tool) => toolLines(tool, before !== undefined)),
  ];
}

function toolLines(tool: ReviewedTool, isCompared: boolean): string[] {
  const { name, value, effect, status, changes, unsupported, descriptor } = tool;
  const title = descriptor?.title === undefined ? '' : ` - ${foreignText(descriptor.title, 120)}`;
  const indented = [
    descriptor?.description === undefined ? '' : foreignText(descriptor.description, 600),
    effect ?? '',
    unsupported === null ? '' : `Cannot be used: ${unsupported}`,
    changes && changes.length > 0 ? `Changed: ${differenceText(changes)}` : '',
    value === null ? '' : foreignText(value, 400),
  ];
  return [
    '',
    `${foreignText(name, 120)}${title}${isCompared ? `   [${status}]` : ''}`,
    ...indented.filter((line) => line !== '').map((line) => `  ${line}`),
  ];
}
