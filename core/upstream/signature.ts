import { createHash } from 'node:crypto';

const sha256Hex = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/**
 * BigBlueButton: `checksum` is the SHA-256 of the name of the call, the query string as it is sent, and the shared secret
 * (BigBlueButton API documentation, "API Security Model").
 */
export function signedUrl(url: URL, secret: string): URL {
  const signed = new URL(url);
  const call = signed.pathname.split('/').at(-1) ?? '';
  const query = signed.search.slice(1);
  signed.search = `${query === '' ? '' : `${query}&`}checksum=${sha256Hex(call + query + secret)}`;
  return signed;
}

/**
 * YOURLS: `signature` is the SHA-256 of the time stamp followed by the signature token, so that the token itself is not
 * sent and a seen request is of use for a short time only (YOURLS, "Passwordless API").
 */
export function signedForm(form: URLSearchParams, secret: string, nowSeconds: number): string {
  const timestamp = String(Math.floor(nowSeconds));
  const signed = new URLSearchParams(form);
  signed.set('timestamp', timestamp);
  signed.set('hash', 'sha256');
  signed.set('signature', sha256Hex(timestamp + secret));
  return signed.toString();
}
