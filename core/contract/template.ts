import { z } from 'zod';

/** What a template makes where a value that it needs was not given: the entry is left out. */
export const ABSENT = Symbol('absent');

const name = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be snake_case');

/** How text is made literal inside a language of upstream. */
export const ESCAPES = ['none', 'regex', 'quoted'] as const;

/**
 * Fixed JSON with slots. A slot is an object with one of these keys:
 *
 * - `{ $value: limit }`: the value with its type; left out when it was not given, or `otherwise` in its place
 * - `{ $text: 'Ticket:{limit}', escape: none }`: text with values in it; left out when one of them was not given
 * - `{ $given: query, then: … }`: a part that is there only when the value is
 * - `{ $json: … }`: a part as JSON text, for upstreams that want JSON inside a parameter
 *
 * Nothing else of a template can be changed by a caller.
 */
export type Template =
  | null
  | boolean
  | number
  | string
  | Template[]
  | { $value: string; otherwise?: Template }
  | { $text: string; escape: (typeof ESCAPES)[number] }
  | { $given: string; then: Template }
  | { $json: Template }
  | { [key: string]: Template };

const plainKey = z.string().regex(/^[^$]/, 'must not begin with $');

export const templateSchema: z.ZodType<Template> = z.lazy(() =>
  z.union([
    z.null(),
    z.boolean(),
    z.number(),
    z.string(),
    z.array(templateSchema),
    z.strictObject({ $value: name, otherwise: templateSchema.optional() }),
    z.strictObject({ $text: z.string().min(1), escape: z.enum(ESCAPES) }),
    z.strictObject({ $given: name, then: templateSchema }),
    z.strictObject({ $json: templateSchema }),
    z.record(plainKey, templateSchema),
  ]),
) as z.ZodType<Template>;

const SLOT = /\{([a-z][a-z0-9_]*)\}/g;

/** The names in `{…}` of a text, each as often as it stands there. */
export function slotsOf(text: string): string[] {
  return [...text.matchAll(SLOT)].map(([, slot]) => slot ?? '');
}

/** Fills the `{…}` of a text; {@link ABSENT} when one of them has no value. */
export function fillText(
  text: string,
  values: ReadonlyMap<string, unknown>,
  encode: (value: string) => string,
): string | typeof ABSENT {
  if (slotsOf(text).some((slot) => !values.has(slot))) return ABSENT;
  return text.replace(SLOT, (_whole, slot: string) => encode(String(values.get(slot))));
}

/** Every name that a template can take a value from. */
export function namesIn(template: Template): Set<string> {
  const names = new Set<string>();
  collect(template, names);
  return names;
}

function collect(template: Template, names: Set<string>): void {
  if (template === null || typeof template !== 'object') return;
  if (Array.isArray(template)) for (const entry of template) collect(entry, names);
  else if (isSlot(template, '$value')) {
    names.add(template.$value);
    collect(template.otherwise ?? null, names);
  } else if (isSlot(template, '$text')) for (const slot of slotsOf(template.$text)) names.add(slot);
  else if (isSlot(template, '$given')) {
    names.add(template.$given);
    collect(template.then, names);
  } else if (isSlot(template, '$json')) collect(template.$json, names);
  else for (const entry of Object.values(template)) collect(entry, names);
}

/**
 * Fills a template.
 *
 * @param values what was given, by name: arguments that passed the input schema, and bound values
 */
export function fillTemplate(template: Template, values: ReadonlyMap<string, unknown>): unknown {
  if (template === null || typeof template !== 'object') return template;
  if (Array.isArray(template)) {
    return template.map((entry) => fillTemplate(entry, values)).filter((entry) => entry !== ABSENT);
  }
  if (isSlot(template, '$value')) {
    if (values.has(template.$value)) return values.get(template.$value);
    return template.otherwise === undefined ? ABSENT : fillTemplate(template.otherwise, values);
  }
  if (isSlot(template, '$text')) return fillText(template.$text, values, ESCAPING[template.escape]);
  if (isSlot(template, '$given')) {
    return values.has(template.$given) ? fillTemplate(template.then, values) : ABSENT;
  }
  if (isSlot(template, '$json')) {
    const filled = fillTemplate(template.$json, values);
    return filled === ABSENT ? ABSENT : JSON.stringify(filled);
  }
  return Object.fromEntries(
    Object.entries(template).flatMap(([key, entry]) => {
      const filled = fillTemplate(entry, values);
      return filled === ABSENT ? [] : [[key, filled]];
    }),
  );
}

const ESCAPING: Record<(typeof ESCAPES)[number], (text: string) => string> = {
  none: (text) => text,
  regex: (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'),
  quoted: (text) => text.replace(/[\\"]/g, '\\$&'),
};

type SlotOf<K extends string> = Extract<Template, Record<K, unknown>>;

function isSlot<K extends '$value' | '$text' | '$given' | '$json'>(
  template: object,
  key: K,
): template is SlotOf<K> {
  return Object.hasOwn(template, key);
}
