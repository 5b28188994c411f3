import { parsePath, type PathSegment } from '../../../core/contract/paths';

/** Stands wherever upstream sends what a caller must never see. */
export const CANARY = 'CANARY-3f9c';

/**
 * A copy of `body` with the canary at each path. Every path has to lead somewhere, otherwise it proves nothing.
 */
export function withCanaries(body: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(body);
  for (const path of paths) {
    if (place(copy, parsePath(path)) === 0) throw new Error(`${path} leads nowhere in the sample.`);
  }
  return copy;
}

function place(value: unknown, [segment, ...rest]: readonly PathSegment[]): number {
  if (!segment || value === null || typeof value !== 'object') return 0;
  const holder = value as Record<string, unknown>;
  const keys = segment.kind === 'each' ? Object.keys(holder) : [segment.key];
  let placed = 0;
  for (const key of keys) {
    if (!Object.hasOwn(holder, key)) continue;
    if (rest.length > 0) placed += place(holder[key], rest);
    else {
      holder[key] = typeof holder[key] === 'object' && holder[key] !== null ? { [CANARY]: CANARY } : CANARY;
      placed += 1;
    }
  }
  return placed;
}
