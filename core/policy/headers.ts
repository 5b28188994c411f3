/**
 * Headers that frame a request, ask for another body than the one we can read, or make some servers treat it as
 * another request (method override, rewritten address). Neither a contract nor a credential sets them.
 */
const FRAMING = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'proxy-connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'cookie',
  'accept-encoding',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
];

/** A contract is public: what says who we are comes from the credential. */
const NOT_IN_CONTRACTS = new Set([...FRAMING, 'authorization', 'proxy-authorization']);
const NOT_IN_CREDENTIALS = new Set([...FRAMING, 'accept']);

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** What every HTTP client can put on the wire: no control character, no line break, one byte per character. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** `name` in lower case. */
export const isContractHeader = (name: string): boolean => NAME.test(name) && !NOT_IN_CONTRACTS.has(name);
/** `name` in lower case. */
export const isCredentialHeader = (name: string): boolean => NAME.test(name) && !NOT_IN_CREDENTIALS.has(name);
export const isHeaderValue = (value: string): boolean => VALUE.test(value);
