import type { OperationDefinition } from '../contract/definition';
import { PolicyError } from '../policy/errors';
import type { UpstreamAccess } from './access';

/** Who calls, as far as an operation may bind a slot to it. */
export interface CallerIdentity {
  /** `null` for a caller that is no named consumer, such as an agent inside n8n. */
  readonly consumer: string | null;
  readonly tenant: string | null;
}

export interface BuiltRequest {
  readonly url: URL;
  readonly headers: Record<string, string>;
  /** How many records were asked for; `undefined` when the operation has no page size. */
  readonly asked: number | undefined;
}

/**
 * Builds the one request that an operation can make. Origin and prefix come from the credential, method and path
 * from the contract; a caller's argument fills a declared, encoded slot and nothing else.
 *
 * @param args validated against the operation's input schema
 * @throws PolicyError `arguments_invalid` for a value that cannot be one path segment
 */
export function buildRequest(
  { operation, limits }: OperationDefinition,
  args: Readonly<Record<string, unknown>>,
  identity: CallerIdentity,
  access: UpstreamAccess,
): BuiltRequest {
  const { request, pagination } = operation;
  const slots = new Map<string, string>();
  const query = new URLSearchParams({ ...request.fixed_query });

  const asked =
    pagination.size_argument === null
      ? undefined
      : Math.min(
          Number(args[pagination.size_argument] ?? limits.page_size),
          limits.page_size,
          limits.result_items,
        );

  for (const [name, placement] of Object.entries(request.arguments)) {
    const value = name === pagination.size_argument ? asked : args[name];
    if (value === undefined || value === null) continue;
    const text = scalarText(value, name);
    if (placement.in === 'path') slots.set(placement.as, pathSegment(text, name));
    else query.append(placement.as, text);
  }
  for (const [name, { from, in: place, as }] of Object.entries(request.bound)) {
    const value = from === 'consumer' ? identity.consumer : identity.tenant;
    if (value === null) {
      throw new PolicyError(
        'credential_missing',
        `This consumer has no ${from}, which ${operation.name} needs.`,
      );
    }
    if (place === 'path') slots.set(as, pathSegment(value, name));
    else query.append(as, value);
  }
  for (const [name, value] of Object.entries(access.query)) query.set(name, value);

  const path = request.path.replace(/\{([a-z0-9_]+)\}/g, (_whole, slot: string) => {
    const filling = slots.get(slot);
    // Left empty, `/orders/{id}` would ask for all orders.
    if (filling === undefined)
      throw new PolicyError('arguments_invalid', `Nothing fills {${slot}} of the path.`);
    return filling;
  });
  const url = new URL(access.base);
  url.pathname = access.base.pathname.replace(/\/+$/, '') + path;
  url.search = query.toString();
  return {
    url,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...request.fixed_headers,
      ...access.headers,
    },
    asked,
  };
}

/**
 * A value as upstream reads it. A list or object has no such form, and is in no slot that lint lets pass.
 *
 * @throws PolicyError `arguments_invalid`
 */
export function scalarText(value: unknown, argument: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new PolicyError('arguments_invalid', `Argument /${argument} must be text, a number, true or false.`, {
    pointer: `/${argument}`,
  });
}

/**
 * Separators, dot segments and what cannot be encoded. Encoded separators count although they would be encoded once
 * more: a proxy that decodes before it routes would climb with them.
 */
const NO_SEGMENT = /^\.{0,2}$|[/\\\p{Cc}\p{Cs}]|%2e|%2f|%5c|%00/iu;

/** A value as exactly one path segment. */
function pathSegment(value: string, argument: string): string {
  if (NO_SEGMENT.test(value)) {
    throw new PolicyError(
      'arguments_invalid',
      `Argument /${argument} must be one plain path segment without slashes or dot segments.`,
      { pointer: `/${argument}` },
    );
  }
  return encodeURIComponent(value);
}

/** Whether a path is the operation's own, each slot being one segment. For the one redirect a contract may allow. */
export function matchesPathTemplate(pathname: string, access: UpstreamAccess, template: string): boolean {
  const prefix = access.base.pathname.replace(/\/+$/, '');
  if (!pathname.startsWith(`${prefix}/`)) return false;
  const expected = template.split('/');
  const actual = pathname.slice(prefix.length).split('/');
  return (
    expected.length === actual.length &&
    expected.every((part, index) =>
      part.startsWith('{') ? !NO_SEGMENT.test(actual[index] ?? '') : part === actual[index],
    )
  );
}
