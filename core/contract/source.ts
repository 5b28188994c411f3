import { isNode, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';

type Path = readonly PropertyKey[];

/** Something that makes a file unreadable, and where. */
export interface SourceFault {
  readonly line: number;
  readonly reason: string;
}

/** A YAML 1.2 file as JSON data, with the line of every part. */
export interface Source {
  readonly data: unknown;
  has(path: Path): boolean;
  /** The line where `path` stands; of the nearest part around it when it does not. */
  lineOf(path: Path): number;
  /** The text with another value at `path`, comments and layout kept; `undefined` when no simple value stands there. */
  withValue(path: Path, value: string): string | undefined;
}

const MAXIMUM_CHARACTERS = 512 * 1024;
/** Parsers recurse: far deeper than this, they exhaust the stack. */
const MAXIMUM_DEPTH = 100;

/**
 * Reads a file that has to mean the same to every reader: JSON values only, no tags, no anchors and aliases, no
 * doubled keys. Never throws for what stands in the file.
 */
export function readSource(text: string): Source | SourceFault[] {
  const excess = excessOf(text);
  if (excess !== undefined) return [{ line: 1, reason: excess }];
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    stringKeys: true,
    schema: 'core',
    resolveKnownTags: false,
    logLevel: 'error',
  });
  const lineAt = (offset: number | undefined) => lines.linePos(offset ?? 0).line;
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) {
    return errors.map(({ message, pos }) => ({
      line: lineAt(pos[0]),
      reason: message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'is not YAML',
    }));
  }
  const faults = nonJsonFaults(document, lineAt);
  if (faults.length > 0) return faults;
  return {
    data: document.toJS(),
    has: (path) => document.hasIn(path),
    lineOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const node = document.getIn(path.slice(0, length), true);
        if (isNode(node)) return lineAt(node.range?.[0]);
      }
      return 1;
    },
    withValue: (path, value) => {
      const node = document.getIn(path, true);
      if (!isScalar(node) || !node.range || node.type?.startsWith('BLOCK')) return undefined;
      const [start, end] = node.range;
      const before = text.slice(0, start);
      const after = text.slice(end);
      // An empty value has no room around it.
      return before + (before.endsWith(':') ? ' ' : '') + value + (after.startsWith('#') ? ' ' : '') + after;
    },
  };
}

/** Why a file is not parsed at all. */
function excessOf(text: string): string | undefined {
  if (text.length > MAXIMUM_CHARACTERS) return 'The file is larger than 512 KB';
  let depth = 0;
  let deepest = 0;
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  const dashes = new RegExp(`(?:[-?:]\\s+){${String(MAXIMUM_DEPTH)}}`);
  return deepest >= MAXIMUM_DEPTH || dashes.test(text)
    ? 'The file is nested deeper than 100 levels'
    : undefined;
}

function nonJsonFaults(document: Document, lineAt: (offset: number | undefined) => number): SourceFault[] {
  const faults: SourceFault[] = [];
  visit(document, {
    Alias: (_key, node) => {
      faults.push({ line: lineAt(node.range?.[0]), reason: 'Aliases are not read; write the value out' });
    },
    Scalar: (_key, node) => {
      if (typeof node.value === 'number' && !Number.isFinite(node.value)) {
        faults.push({ line: lineAt(node.range?.[0]), reason: 'Numbers must be finite' });
      }
    },
  });
  return faults;
}
