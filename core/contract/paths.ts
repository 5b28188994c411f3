/**
 * The small path language of `keep` and `redact`: keys separated by dots, `[]` for every element of a list, `*` for
 * every key of an object. Examples: `name`, `tags[].name`, `nodes[].type`, `*[].help`, `.` (the value itself).
 */
export type PathSegment = { kind: 'key'; key: string } | { kind: 'each' };

/** As a type for schemas: what {@link parsePath} accepts. */
export const PATH_PATTERN = /^(?:\.|(?:[^.[\]*\s]+|\*)(?:\[\])*(?:\.(?:[^.[\]*\s]+|\*)(?:\[\])*)*)$/;

/** Parses a path; `.` gives no segment. Throws a `SyntaxError` for anything else than the language above. */
export function parsePath(path: string): PathSegment[] {
  if (!PATH_PATTERN.test(path)) throw new SyntaxError(`"${path}" is not a path such as tags[].name`);
  if (path === '.') return [];
  return path.split('.').flatMap((part): PathSegment[] => {
    const [name = '', ...lists] = part.split('[]');
    return [
      name === '*' ? { kind: 'each' } : { kind: 'key', key: name },
      ...lists.map((): PathSegment => ({ kind: 'each' })),
    ];
  });
}

const parsedLists = new WeakMap<readonly string[], readonly PathSegment[][]>();

/** The parsed paths of a list. The lists stand in parsed contracts, so each is parsed once and not for every record. */
export function parsePaths(paths: readonly string[]): readonly PathSegment[][] {
  const known = parsedLists.get(paths);
  if (known) return known;
  const parsed = paths.map(parsePath);
  parsedLists.set(paths, parsed);
  return parsed;
}

/** Reads a JSON pointer (RFC 6901). `undefined` when nothing stands there; `''` is the value itself. */
export function readPointer(value: unknown, pointer: string): unknown {
  let at = value;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
