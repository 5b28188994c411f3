import { replacePaths } from '../policy/redaction';

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Stands where the bytes are no text, so that a model does not take them for the content. */
const NO_TEXT = '[not text: left out]';

/** Replaces base64 values of a record by the text that they hold, in place. */
export function base64Texts(record: unknown, paths: readonly string[]): void {
  replacePaths(record, paths, (value) => (typeof value === 'string' ? textOf(value) : value));
}

function textOf(encoded: string): string {
  if (!BASE64.test(encoded)) return NO_TEXT;
  try {
    const text = utf8.decode(Buffer.from(encoded, 'base64'));
    return text.includes('\u0000') ? NO_TEXT : text;
  } catch {
    return NO_TEXT;
  }
}
