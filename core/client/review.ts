import type { ToolDescriptor } from '../contract/pin';
import { pinText, type ToolPin } from './allowlist';
import { differences, type Difference } from './difference';
import { effectOf } from './effect';
import { identityText } from './identity';
import type { ListedTool, Listing } from './listing';
import { unsupportedSchema } from './modelSchema';

export type ReviewStatus = 'unchanged' | 'changed' | 'missing' | 'ambiguous' | 'not_pinned';

/** One tool in a review. Fields are those of JSON output, hence their spelling. */
export interface ReviewedTool {
  readonly name: string;
  readonly status: ReviewStatus;
  /** What to pin: `name@sha256:<hash>`; `null` for a tool that is not listed. */
  readonly value: string | null;
  /** The pin that was given; `null` where none was. */
  readonly pinned: string | null;
  /** The server's claim, never a decision. */
  readonly effect: string | null;
  /** Why the tool cannot be used although it may be pinned; `null` when it can. */
  readonly unsupported: string | null;
  /** Field by field; `null` where the pinned descriptor is not known, only its hash. */
  readonly changes: readonly Difference[] | null;
  readonly descriptor: ToolDescriptor | null;
}

export interface Review {
  /** `<name>@<origin>`, as it is pinned. */
  readonly server: string;
  readonly catalogue_pin: string;
  /** Entries of the list that are no tools. */
  readonly unreadable: number;
  readonly tools: readonly ReviewedTool[];
  /** Everything that is listed, to be kept for the next review. */
  readonly descriptors: readonly ToolDescriptor[];
}

/**
 * What a server lists, in full, beside what was pinned of it: everything a person needs to choose tools, or to see what
 * a drift is.
 *
 * @param known finds the descriptor behind a pin
 */
export function review(
  listing: Listing,
  pins: readonly ToolPin[],
  known: (pin: string) => ToolDescriptor | undefined,
): Review {
  const listed = listing.tools.map((tool) => reviewed(tool, pins, listing, known));
  const missing = pins.filter(
    ({ name }) => !listing.tools.some(({ descriptor }) => descriptor.name === name),
  );
  return {
    server: identityText(listing.identity),
    catalogue_pin: listing.cataloguePin,
    unreadable: listing.unreadable,
    tools: [...listed, ...missing.map(gone)],
    descriptors: listing.tools.map(({ descriptor }) => descriptor),
  };
}

function reviewed(
  { descriptor, pin }: ListedTool,
  pins: readonly ToolPin[],
  { tools }: Listing,
  known: (pin: string) => ToolDescriptor | undefined,
): ReviewedTool {
  const { name } = descriptor;
  const pinned = pins.find((one) => one.name === name);
  const before = pinned && (pinned.pin === pin ? descriptor : known(pinned.pin));
  return {
    name,
    status: statusOf(tools.filter((tool) => tool.descriptor.name === name).length, pin, pinned),
    value: pinText({ name, pin }),
    pinned: pinned?.pin ?? null,
    effect: effectOf(descriptor),
    unsupported: unsupportedSchema(descriptor) ?? null,
    changes: before ? differences(before, descriptor) : null,
    descriptor,
  };
}

function statusOf(times: number, pin: string, pinned: ToolPin | undefined): ReviewStatus {
  if (times > 1) return 'ambiguous';
  if (!pinned) return 'not_pinned';
  return pinned.pin === pin ? 'unchanged' : 'changed';
}

function gone({ name, pin }: ToolPin): ReviewedTool {
  return {
    name,
    status: 'missing',
    value: null,
    pinned: pin,
    effect: null,
    unsupported: null,
    changes: null,
    descriptor: null,
  };
}
