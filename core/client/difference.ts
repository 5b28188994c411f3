import type { ToolDescriptor } from '../contract/pin';
import { escapePointerToken } from '../policy/jsonSchema';

/** One place where what is listed is not what was pinned. */
export interface Difference {
  /** JSON pointer (RFC 6901) into the descriptor, such as `/inputSchema/properties/limit/maximum`. */
  readonly pointer: string;
  /** `undefined` where nothing was there. */
  readonly pinned: unknown;
  /** `undefined` where nothing is there any more. */
  readonly listed: unknown;
}

/** All that a review of one tool shows; more would not be read. */
const MOST_DIFFERENCES = 200;

/** Field by field, in the order of the pointers. Key order and number spelling are no difference. */
export function differences(pinned: ToolDescriptor, listed: ToolDescriptor): Difference[] {
  const found: Difference[] = [];
  compare('', pinned, listed, found);
  return found.sort((one, other) => (one.pointer < other.pointer ? -1 : 1));
}

function compare(pointer: string, pinned: unknown, listed: unknown, found: Difference[]): void {
  if (found.length >= MOST_DIFFERENCES || Object.is(pinned, listed)) return;
  if (!isContainer(pinned) || !isContainer(listed) || Array.isArray(pinned) !== Array.isArray(listed)) {
    found.push({ pointer, pinned, listed });
    return;
  }
  const one = pinned as Record<string, unknown>;
  const other = listed as Record<string, unknown>;
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const at = `${pointer}/${escapePointerToken(key)}`;
    compare(at, own(one, key), own(other, key), found);
  }
}

function own(container: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function isContainer(value: unknown): boolean {
  return value !== null && typeof value === 'object';
}
