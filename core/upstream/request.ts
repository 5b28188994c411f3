import type { OperationDefinition } from '../contract/definition';
import type { HttpRequest, WebRequest } from '../contract/request';
import { ABSENT, fillTemplate, fillText, type Template } from '../contract/template';
import { PolicyError } from '../policy/errors';
import { addressBelow, prefixOf, type UpstreamAccess } from './access';
import { isSegment, scalarText } from './segments';
import { signedForm, signedUrl } from './signature';
import { placeValues, type CallerIdentity, type PlacedValues } from './values';

export interface BuiltRequest {
  readonly method: HttpRequest['method'];
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What a request accepts, by the format of the answer. */
const ACCEPT = { json: 'application/json', xml: 'application/xml, text/xml', text: '*/*', lines: '*/*' };

/**
 * Builds the one request that an operation can make. Origin and prefix come from the credential, method, path and the
 * shape of the body from the contract; a caller's argument fills a declared, encoded slot and nothing else.
 *
 * @param args validated against the operation's input schema, page size clamped
 * @param nowSeconds the present in Unix seconds, for signatures
 * @throws PolicyError `arguments_invalid` for a value that cannot be in its place, `credential_missing`
 */
export function buildRequest(
  { operation }: OperationDefinition,
  request: WebRequest,
  args: Readonly<Record<string, unknown>>,
  identity: CallerIdentity,
  access: UpstreamAccess,
  nowSeconds: number,
): BuiltRequest {
  const values = placeValues(request, operation.name, args, identity, access);
  const query = queryOf(request, values, access);
  const body = bodyOf(request, values.template);
  const url = addressBelow(access, filledPath(request.path, values.slots));
  url.search = query.toString();
  const signed =
    access.kind === 'yourls' && body?.form ? signedForm(body.form, access.secret, nowSeconds) : undefined;
  return {
    method: request.kind === 'http' ? request.method : 'POST',
    url: access.kind === 'bigbluebutton' ? signedUrl(url, access.secret) : url,
    headers: {
      accept: ACCEPT[operation.response.format ?? 'json'],
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-type': body.type }),
      ...request.fixed_headers,
      ...access.headers,
    },
    body: signed ?? body?.text,
  };
}

function queryOf(request: WebRequest, values: PlacedValues, access: UpstreamAccess): URLSearchParams {
  const query = new URLSearchParams();
  if (request.kind === 'http') {
    for (const [name, fixed] of Object.entries(request.fixed_query)) {
      for (const value of [fixed].flat()) query.append(name, value);
    }
    for (const [name, template] of Object.entries(request.computed_query ?? {})) {
      const filled = fillTemplate(template, values.template);
      if (filled === ABSENT) continue;
      for (const value of [filled].flat()) query.append(name, scalarText(value, name));
    }
  }
  for (const [name, value] of values.query) query.append(name, value);
  for (const [name, value] of Object.entries(access.query)) query.set(name, value);
  return query;
}

interface Body {
  readonly type: string;
  readonly text: string;
  readonly form?: URLSearchParams;
}

function bodyOf(request: WebRequest, values: ReadonlyMap<string, unknown>): Body | undefined {
  if (request.kind === 'graphql') {
    const variables = fillTemplate(request.variables, values);
    return { type: 'application/json', text: JSON.stringify({ query: request.document, variables }) };
  }
  return request.body && encodeBody(request.body.format, request.body.content, values);
}

/** A body of fixed shape; also of a sign-in. */
export function encodeBody(
  format: 'json' | 'form' | 'xml',
  content: Template,
  values: ReadonlyMap<string, unknown>,
): Body {
  if (format === 'xml') {
    const text = fillText(typeof content === 'string' ? content : '', values, escapeXml);
    if (text === ABSENT) throw new PolicyError('arguments_invalid', 'An argument of the search is missing.');
    return { type: 'application/xml; charset=utf-8', text };
  }
  const filled = fillTemplate(content, values);
  if (format === 'json') return { type: 'application/json', text: JSON.stringify(filled) };
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(filled as Record<string, unknown>)) {
    form.append(name, scalarText(value, name));
  }
  return { type: 'application/x-www-form-urlencoded', text: form.toString(), form };
}

const XML_ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => XML_ENTITIES[character] ?? '');
}

function filledPath(path: string, slots: ReadonlyMap<string, string>): string {
  return path.replace(/\{([a-z0-9_]+)\}/g, (_whole, slot: string) => {
    const filling = slots.get(slot);
    // Left empty, `/orders/{id}` would ask for all orders.
    if (filling === undefined)
      throw new PolicyError('arguments_invalid', `Nothing fills {${slot}} of the path.`);
    return filling;
  });
}

/** Whether a path is the operation's own, each slot being one segment. For the one redirect a contract may allow. */
export function matchesPathTemplate(pathname: string, access: UpstreamAccess, template: string): boolean {
  const prefix = prefixOf(access);
  if (!pathname.startsWith(`${prefix}/`)) return false;
  const expected = template.split('/');
  const actual = pathname.slice(prefix.length).split('/');
  return (
    expected.length === actual.length &&
    expected.every((part, index) => {
      const found = actual[index] ?? '';
      const ending = /^\{\w+\}(.*)$/.exec(part)?.[1];
      if (ending === undefined) return part === found;
      return found.endsWith(ending) && isSegment(found.slice(0, found.length - ending.length));
    })
  );
}
