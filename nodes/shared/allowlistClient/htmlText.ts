/**
 * Text for a place that n8n renders as HTML: descriptions of options, and of errors. It takes out comments and tags that it
 * does not know, so a server could hide there from a person what a model reads, or put a link or a picture in.
 */
export function htmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
