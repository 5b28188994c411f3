import type { ToolDescriptor } from '../contract/pin';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import type { Allowlist, ToolPin } from './allowlist';
import { differences, type Difference } from './difference';
import { compareIdentity } from './identity';
import type { ListedTool, Listing } from './listing';
import { unsupportedSchema } from './modelSchema';
import { withoutSecrets } from './result';

/** A pinned tool that may not be used, and why. */
export interface BlockedTool {
  readonly name: string;
  readonly error: PolicyError;
}

export interface Verified {
  /** Pinned tools that are listed exactly as they were reviewed, in the order of the allowlist. */
  readonly usable: readonly ListedTool[];
  readonly blocked: readonly BlockedTool[];
}

/**
 * Compares what a server lists with what was pinned. One drifting tool is blocked and the others stay usable; a server
 * that is another one, or a catalogue that has changed where it is pinned, blocks everything.
 *
 * @param remembered finds what stands behind a pin, to say what has changed
 * @param secrets of the credential, which a server may repeat in what it lists
 * @throws PolicyError `endpoint_drift`, `server_drift` or `catalogue_drift`
 */
export function verify(
  allowlist: Allowlist,
  listing: Listing,
  remembered: (pin: string) => ToolDescriptor | undefined = () => undefined,
  secrets: readonly string[] = [],
): Verified {
  compareIdentity(allowlist.server, listing.identity, secrets);
  compareCatalogue(allowlist, listing);
  const usable: ListedTool[] = [];
  const blocked: BlockedTool[] = [];
  for (const pinned of allowlist.tools) {
    const reviewed = allowlist.reviewed.get(pinned.pin) ?? remembered(pinned.pin);
    const found = verifyTool(pinned, listing, reviewed, secrets);
    if (found instanceof PolicyError) blocked.push({ name: pinned.name, error: found });
    else usable.push(found);
  }
  return { usable, blocked };
}

function compareCatalogue({ catalogue }: Allowlist, listing: Listing): void {
  if (catalogue === undefined) return;
  if (catalogue === listing.cataloguePin) {
    if (listing.unreadable === 0) return;
    const entries =
      listing.unreadable === 1
        ? '1 entry that is no tool'
        : `${String(listing.unreadable)} entries that are no tools`;
    throw new PolicyError(
      'catalogue_drift',
      `The server lists ${entries}, which a catalogue pin cannot hold; have it corrected, or remove the catalogue pin.`,
    );
  }
  throw new PolicyError(
    'catalogue_drift',
    `The server's list of tools has changed: pinned ${catalogue}, listed ${listing.cataloguePin}; review it again.`,
  );
}

function verifyTool(
  { name, pin }: ToolPin,
  { tools }: Listing,
  reviewed: ToolDescriptor | undefined,
  secrets: readonly string[],
): ListedTool | PolicyError {
  const named = tools.filter(({ descriptor }) => descriptor.name === name);
  const [listed] = named;
  if (!listed) {
    return new PolicyError('tool_missing', `The server no longer lists the tool ${shown(name)}.`);
  }
  if (named.length > 1) {
    return new PolicyError(
      'tool_ambiguous',
      `The server lists the tool ${shown(name)} more than once, so none is used.`,
    );
  }
  if (listed.pin !== pin) return drift(name, pin, listed, reviewed, secrets);
  const unsupported = unsupportedSchema(listed.descriptor);
  if (unsupported !== undefined) {
    return new PolicyError('schema_unsupported', `The tool ${shown(name)} cannot be used: ${unsupported}.`);
  }
  return listed;
}

/**
 * A drift with what has changed. The sentence may reach a model and so names fields and hashes only; the changes are
 * for the person who reviews them, since a changed description is written for models.
 */
export class DriftError extends PolicyError {
  readonly changes: readonly Difference[];

  constructor(message: string, changes: readonly Difference[]) {
    super('schema_drift', message);
    this.changes = changes;
  }
}

function drift(
  name: string,
  pin: string,
  { descriptor, pin: live }: ListedTool,
  reviewed: ToolDescriptor | undefined,
  secrets: readonly string[],
): DriftError {
  const changes = reviewed ? differences(reviewed, descriptor) : [];
  const fields = [...new Set(changes.map(({ pointer }) => pointer.split('/')[1] ?? ''))];
  const parts = [
    `The tool ${shown(name)} is not the one that was reviewed: pinned ${pin}, listed ${live}.`,
    fields.length > 0 ? `Changed: ${fields.join(', ')}.` : '',
    lostProperties(descriptor, reviewed) ?? 'Review it and choose it again.',
  ];
  return new DriftError(parts.filter((part) => part !== '').join(' '), withoutSecrets(changes, secrets));
}

/** Servers in trouble list tools with empty schemas for a while: that passes, and no review is needed. */
function lostProperties(listed: ToolDescriptor, reviewed: ToolDescriptor | undefined): string | undefined {
  const { properties, $ref, anyOf, oneOf, allOf } = listed.inputSchema;
  const isEmpty =
    [$ref, anyOf, oneOf, allOf].every((keyword) => keyword === undefined) &&
    Object.keys(properties ?? {}).length === 0;
  if (!isEmpty || (reviewed && reviewed.inputSchema['properties'] === undefined)) return undefined;
  return reviewed
    ? 'The listed schema lost its properties; if the server is only in trouble, try again later.'
    : 'The listed schema has no properties; if it lost them because the server is in trouble, try again later.';
}

const SHOWN_DIFFERENCES = 5;
const SHOWN_CHARACTERS = 160;

/** Differences as one line: pointer and both values, foreign text made fit for it. */
export function differenceText(changes: readonly Difference[]): string {
  const shownChanges = changes.slice(0, SHOWN_DIFFERENCES).map(({ pointer, pinned, listed }) => {
    const at = foreignText(pointer, SHOWN_CHARACTERS);
    return `${at === '' ? '/' : at} ${valueText(pinned)} -> ${valueText(listed)}`;
  });
  const more = changes.length - shownChanges.length;
  return shownChanges.join('; ') + (more > 0 ? ` and ${String(more)} more` : '');
}

function valueText(value: unknown): string {
  return value === undefined ? '(absent)' : foreignText(JSON.stringify(value), SHOWN_CHARACTERS);
}

const shown = (name: string) => foreignText(name, 120);
