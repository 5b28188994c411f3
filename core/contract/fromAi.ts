/** One `$fromAI(…)` of an n8n expression: what a model is asked for. */
export interface FromAi {
  readonly key: string;
  readonly description: string;
  readonly type: string;
}

/** A string in a node's parameters. */
export interface NodeText {
  /** Dotted path below `parameters`. */
  readonly path: string;
  readonly text: string;
}

/** Every string of a node's parameters, with its path. */
export function* textsOf(value: unknown, path: readonly string[] = []): Generator<NodeText> {
  if (typeof value === 'string') yield { path: path.join('.'), text: value };
  if (value === null || typeof value !== 'object') return;
  for (const [key, entry] of Object.entries(value)) yield* textsOf(entry, [...path, key]);
}

/** n8n evaluates a string only when it begins with an equals sign. */
export const isExpression = (text: string): boolean => text.startsWith('=');

const STRING = String.raw`(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|` + '`((?:[^`\\\\]|\\\\.)*)`)';
const CALL = new RegExp(String.raw`\$fromAI\(\s*${STRING}(?:\s*,\s*${STRING})?(?:\s*,\s*${STRING})?`, 'gi');

/** What n8n itself reads: names, descriptions and types that stand there as plain text. */
export function fromAiIn(text: string): FromAi[] {
  return [...text.matchAll(CALL)].map((found) => ({
    key: found[1] ?? found[2] ?? found[3] ?? '',
    description: found[4] ?? found[5] ?? found[6] ?? '',
    type: found[7] ?? found[8] ?? found[9] ?? 'string',
  }));
}

const WHOLE = new RegExp(
  String.raw`^=\s*\{\{\s*(?:/\*[^*]*\*/\s*)?\$fromAI\(\s*${STRING}(?:\s*,\s*${STRING})*\s*\)\s*\}\}$`,
  'i',
);

/** Whether the text is one value of a model and nothing else. */
export const isOneValue = (text: string): boolean => WHOLE.test(text);

const IN_PATH = new RegExp(
  String.raw`\{\{\s*encodeURIComponent\(\s*\$fromAI\(\s*${STRING}(?:\s*,\s*${STRING})*\s*\)\s*\)\s*\}\}`,
  'gi',
);

/** The text with every `{{ encodeURIComponent($fromAI(…)) }}` replaced; `undefined` when another expression is left. */
export function withoutPathValues(text: string, replacement: string): string | undefined {
  const rest = text.replace(/^=/, '').replace(IN_PATH, replacement);
  return rest.includes('{{') || rest.includes('$fromAI') ? undefined : rest;
}
