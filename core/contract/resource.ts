import { z } from 'zod';

/**
 * A fixed scheme and whole `{slot}` segments, such as `wiki://{page}` or `n8n://workflows/{workflow_id}`. Level 1 of
 * RFC 6570: a slot is one segment and never holds a slash.
 */
const TEMPLATE =
  /^([a-z][a-z0-9+.-]{1,31}):\/\/((?:\{[a-z][a-z0-9_]*\}|[A-Za-z0-9._~-]+)(?:\/(?:\{[a-z][a-z0-9_]*\}|[A-Za-z0-9._~-]+))*)$/;

/** Schemes that a client resolves by itself, or runs: a resource must not pass for one of those. */
const TAKEN_SCHEMES = new Set([
  'http',
  'https',
  'ws',
  'wss',
  'ftp',
  'file',
  'data',
  'blob',
  'javascript',
  'ui',
]);

const mimeType = /^[a-z]+\/[a-z0-9][a-z0-9.+-]*(?:; ?charset=[a-z0-9-]+)?$/;

/** How an operation is read as an MCP resource. Absent: it is a tool only. */
export const resourceSchema = z
  .strictObject({
    uri_template: z
      .string()
      .max(300)
      .regex(TEMPLATE, 'must be a fixed scheme with whole slots as segments, such as wiki://{page}')
      .refine((text) => !TAKEN_SCHEMES.has(schemeOf(text)), "must have a scheme that is nobody else's"),
    mime_type: z.string().max(100).regex(mimeType, 'must be a media type such as text/plain'),
    expose: z
      .enum(['resource', 'both'])
      .describe('resource: listed and read as a resource only. both: a tool as well.'),
    content: z
      .string()
      .regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'must be a JSON pointer such as /body')
      .nullable()
      .describe('The text within the result that is the resource; null for the whole result as JSON.'),
    encoding: z
      .enum(['text', 'base64'])
      .describe('base64: the text at content is the data of a binary resource.'),
  })
  .describe('How the operation is read as an MCP resource; left out, it is a tool only.');

export type ResourceDeclaration = z.infer<typeof resourceSchema>;

function schemeOf(template: string): string {
  return template.slice(0, template.indexOf(':'));
}

/** Without slots it is one resource, with them a template for many. */
export function isTemplate(template: string): boolean {
  return template.includes('{');
}

/** Whether some URI fits both templates, so that nobody could say which of them is meant. */
export function overlap(one: string, other: string): boolean {
  const [left, right] = [one, other].map(segmentsOf);
  if (left === undefined || right?.length !== left.length) return false;
  return left.every((part, index) => {
    const counterpart = right[index] ?? '';
    return part === counterpart || part.startsWith('{') || counterpart.startsWith('{');
  });
}

function segmentsOf(text: string): string[] {
  return text.replace('://', '/').split('/');
}

/**
 * What fills the slots of a template in a URI that a caller sent.
 *
 * @returns the decoded texts by slot; `undefined` where the URI does not fit the template
 */
export function matchUri(template: string, uri: string): Record<string, string> | undefined {
  if (!uri.startsWith(template.slice(0, template.indexOf('://') + 3))) return undefined;
  const expected = segmentsOf(template);
  const actual = segmentsOf(uri);
  if (expected.length !== actual.length) return undefined;
  const filled: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const given = actual[index] ?? '';
    if (!part.startsWith('{')) {
      if (part !== given) return undefined;
      continue;
    }
    const value = decoded(given);
    if (value === undefined || value === '') return undefined;
    filled[part.slice(1, -1)] = value;
  }
  return filled;
}

/** A query or fragment is no part of any template. */
function decoded(segment: string): string | undefined {
  if (/[?#]/.test(segment)) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
