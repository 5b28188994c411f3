/** Shorter values are words and numbers; what stands in a text of theirs is no secret. */
const SHORTEST = 4;

/** Every text below `data`, however deep. */
export function textsIn(data: unknown): string[] {
  if (typeof data === 'string') return [data];
  if (data === null || typeof data !== 'object') return [];
  return Object.values(data).flatMap(textsIn);
}

/** The texts as they are and as they look inside JSON, a URL, a form, hex and base64; the longest first, so that no end is left over. */
export function secretForms(texts: readonly string[]): string[] {
  const forms = texts
    .filter((text) => text.length >= SHORTEST)
    .flatMap((text) => {
      const bytes = Buffer.from(text, 'utf8');
      const base64 = bytes.toString('base64').replace(/=+$/, '');
      const base64Url = base64.replaceAll('+', '-').replaceAll('/', '_');
      return [
        text,
        JSON.stringify(text).slice(1, -1),
        encodeURIComponent(bytes.toString('utf8')),
        new URLSearchParams({ '': text }).toString().slice(1),
        bytes.toString('hex'),
        base64,
        base64Url,
      ];
    });
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
