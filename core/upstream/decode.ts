import { XMLParser } from 'fast-xml-parser';
import { SyntaxValidator } from 'fast-xml-validator';
import type { Operation } from '../contract/operation';
import { PolicyError } from '../policy/errors';
import { readText, tooLarge, type UpstreamBody } from './body';

type Format = NonNullable<Operation['response']['format']>;

/** Media types by format, in lower case and without parameters. */
const IS_FORMAT: Record<Format, (type: string) => boolean> = {
  json: (type) => type === 'application/json' || type.endsWith('+json'),
  xml: (type) => type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml'),
  text: (type) => type.startsWith('text/') && type !== 'text/html',
  lines: (type) => type.startsWith('text/') && type !== 'text/html',
};

const NAMES: Record<Format, string> = { json: 'JSON', xml: 'XML', text: 'plain text', lines: 'plain text' };

/** Whether the answer says that it is of this format. */
export function isOfFormat(response: UpstreamBody, format: Format): boolean {
  const type = (response.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return IS_FORMAT[format](type);
}

/**
 * The whole body as data.
 *
 * @param limit bytes after which the body is refused as a whole; it is never cut in the middle
 * @param lists names of XML elements that are always lists
 * @throws PolicyError `upstream_not_json` for another format than expected, `response_too_large`
 */
export async function decodeBody(
  response: UpstreamBody,
  format: Format,
  limit: number,
  lists: readonly string[] = [],
): Promise<unknown> {
  if (!isOfFormat(response, format)) {
    response.discard();
    throw new PolicyError(
      'upstream_not_json',
      `Upstream answered with something other than ${NAMES[format]}, for example a sign-in page; check the base address.`,
    );
  }
  const text = await readText(response, limit);
  if (text === undefined) throw tooLarge(limit);
  if (format === 'text') return { text };
  if (format === 'lines') return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  try {
    return format === 'json' ? (JSON.parse(text) as unknown) : parseXml(text, lists);
  } catch {
    throw new PolicyError(
      'upstream_not_json',
      `Upstream said that it answers with ${NAMES[format]}, but the body is none.`,
    );
  }
}

/**
 * XML as JSON: elements by name without their name space, attributes with `@` before the name, text beside attributes
 * as `#text`; every value is text. A document type is refused, so no entity of its own is ever expanded.
 */
function parseXml(text: string, lists: readonly string[]): unknown {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new SyntaxError('A document type is not read.');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    removeNSPrefix: true,
    parseTagValue: false,
    parseAttributeValue: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    // Characters by number are part of all XML; without this option they are left as they are.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the successor is the same decoder, to be built by hand
    htmlEntities: true,
    isArray: (name) => lists.includes(name),
  });
  // It throws for half a document, of which the parser alone would make something.
  SyntaxValidator.validate(text);
  return parser.parse(text) as unknown;
}
