import { XMLParser } from 'fast-xml-parser';
import fc from 'fast-check';
import { definitionOf, prepareOperation, type PreparedOperation } from '../../../core/contract/definition';
import { isWebRequest, type HttpRequest, type WebRequest } from '../../../core/contract/request';
import { PolicyError } from '../../../core/policy/errors';
import { hostileText, hostileValue } from '../../support/hostile';
import { WEB_CONTRACTS } from '../contract/checkedIn';
import { evidenceOf, exampleOf, type Evidence, type OperationEvidence } from './evidence';
import { EvidenceUpstream, ORIGIN, shown } from './upstreamOf';

const REFUSALS = ['arguments_invalid', 'range_unreadable', 'range_too_wide', 'lookback_too_far'];

/** The path of an operation: one plain segment for each slot, or several where the contract joins them. */
function pathPattern({ path, arguments: places }: WebRequest): RegExp {
  const SEGMENT = "[\\w.!~*'()%-]+";
  const joins = new Map(
    Object.values(places).flatMap((placement) =>
      placement.in === 'path' && placement.join !== undefined ? [[placement.as, placement.join]] : [],
    ),
  );
  const source = path.replace(/[.]/g, '\\.').replace(/\{(\w+)\}/g, (_whole, slot: string) => {
    const join = joins.get(slot);
    return join === undefined ? SEGMENT : `${SEGMENT}(?:${join}${SEGMENT})*`;
  });
  return new RegExp(`^${source}$`);
}

const SIGNATURES = ['checksum', 'timestamp', 'hash', 'signature'];

/** Names that may stand in the query, and what stands there whatever the caller says. */
function queryOf(request: WebRequest, { identity }: Evidence) {
  const fixed = request.kind === 'http' ? request.fixed_query : {};
  const computed = request.kind === 'http' ? Object.keys(request.computed_query ?? {}) : [];
  const placed = [...Object.values(request.arguments), ...Object.values(request.bound)].flatMap(
    (placement) => (placement.in === 'query' ? [placement.as] : []),
  );
  return {
    fixed,
    names: [...Object.keys(fixed), ...computed, ...placed, ...Object.keys(identity.query), ...SIGNATURES],
  };
}

/** Whether a body has the shape of its template: the same fixed parts, values where slots are, nothing more. */
function conforms(template: unknown, body: unknown): boolean {
  if (template === null || typeof template !== 'object') return Object.is(template, body);
  if (Array.isArray(template)) {
    if (!Array.isArray(body)) return false;
    let at = 0;
    for (const entry of template) if (at < body.length && conforms(entry, body[at])) at += 1;
    return at === body.length;
  }
  const slot = template as Record<string, unknown>;
  if ('$value' in slot) return body === null || typeof body !== 'object' || conforms(slot['otherwise'], body);
  if ('$text' in slot) return typeof body === 'string';
  if ('$given' in slot) return conforms(slot['then'], body);
  if ('$json' in slot) return typeof body === 'string' && conforms(slot['$json'], JSON.parse(body));
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return false;
  return Object.entries(body).every(([key, entry]) => Object.hasOwn(slot, key) && conforms(slot[key], entry));
}

/** The names of all elements in their order. */
function skeleton(xml: string): string {
  const names = (value: unknown): unknown =>
    value !== null && typeof value === 'object'
      ? Object.entries(value).map(([key, entry]) => [key, names(entry)])
      : null;
  return JSON.stringify(names(new XMLParser({ ignoreAttributes: false }).parse(xml)));
}

function expectBody(request: HttpRequest, sent: unknown, example: OperationEvidence): void {
  if (request.body === undefined) {
    expect(sent).toBeUndefined();
    return;
  }
  const { format, content } = request.body;
  if (format === 'json') expect(conforms(content, sent)).toBe(true);
  else if (format === 'xml') {
    expect(skeleton((sent as { xml: string }).xml)).toBe(
      skeleton((example.request.body as { xml: string }).xml),
    );
  } else {
    const allowed = [...Object.keys(content as object), ...SIGNATURES];
    const { form } = sent as { form: Record<string, string> };
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(form)));
    for (const [name, fixed] of Object.entries(content as object)) {
      if (fixed === null || typeof fixed !== 'object') expect(form[name]).toBe(String(fixed));
    }
  }
}

function webRequestOf({ definition }: PreparedOperation): WebRequest {
  const { request } = definition.operation;
  if (isWebRequest(request)) return request;
  throw new Error(`${definition.operation.name} is not asked over HTTP.`);
}

/** Either nothing was asked, or exactly what the contract lets anybody ask. */
async function expectHarmless(
  prepared: PreparedOperation,
  args: Record<string, unknown>,
  evidence: Evidence,
  example: OperationEvidence,
  headers: readonly string[],
): Promise<void> {
  const upstream = new EvidenceUpstream(evidence, () => ({
    status: 500,
    type: 'application/json',
    headers: {},
    body: {},
  }));
  const failure = await upstream.call(prepared, args).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PolicyError);
  const [asked] = upstream.requests;
  if (!asked) {
    expect(REFUSALS).toContain((failure as PolicyError).code);
    return;
  }
  expect(upstream.requests).toHaveLength(1);
  const request = webRequestOf(prepared);
  expect(asked.url.origin).toBe(ORIGIN);
  expect(asked.url.hash).toBe('');
  expect(asked.method).toBe(request.kind === 'http' ? request.method : 'POST');
  expect(asked.url.pathname).toMatch(pathPattern(request));
  expect(asked.url.pathname).not.toMatch(/\/\.{1,2}(?:\/|$)|%5c|%2e%2e|%00/i);
  const found = shown(asked);
  const { names, fixed } = queryOf(request, evidence);
  expect(names).toEqual(expect.arrayContaining(Object.keys(found.query)));
  for (const [name, value] of Object.entries(fixed)) {
    expect([found.query[name]].flat()).toEqual([value].flat());
  }
  expect(Object.keys(found.headers).sort()).toEqual([...headers].sort());
  for (const value of Object.values(asked.headers)) expect(value).not.toMatch(/[\r\n]/);
  for (const [name, placement] of Object.entries(request.arguments)) {
    const given = args[name];
    if (placement.in === 'query' && typeof given === 'string' && placement.values === undefined) {
      expect(found.query[placement.as]).toBe(given);
    }
  }
  if (request.kind === 'graphql') {
    const { query } = JSON.parse(asked.body ?? '{}') as { query: string };
    expect(query).toBe(request.document);
    expect(conforms(request.variables, (found.body as { variables: unknown }).variables)).toBe(true);
  } else expectBody(request, found.body, example);
}

const operations = WEB_CONTRACTS.flatMap((contract) =>
  contract.operations.map((operation) => {
    const evidence = evidenceOf(contract.application_id);
    const example = exampleOf(evidence, operation.name);
    return [operation.name, prepareOperation(definitionOf(contract, operation)), evidence, example] as const;
  }),
);

const EXTRA = [
  'url',
  'path',
  'method',
  'headers',
  '__proto__',
  'constructor',
  'query',
  'variables',
  'fields',
  'timeout',
];

describe('hostile arguments', () => {
  it.each(operations)('of %s never leave their places', async (_name, prepared, evidence, example) => {
    const request = webRequestOf(prepared);
    const names = Object.keys(request.arguments);
    const headers = [...Object.keys(evidence.identity.headers), ...Object.keys(request.fixed_headers)].filter(
      (header) => header !== 'accept',
    );
    const hostile =
      names.length === 0
        ? fc.constant({})
        : fc.dictionary(fc.constantFrom(...names), hostileValue, { minKeys: 1, maxKeys: 2 });
    const extra = fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      {
        weight: 1,
        arbitrary: fc.dictionary(fc.oneof(hostileText, fc.constantFrom(...EXTRA)), hostileValue, {
          maxKeys: 1,
        }),
      },
    );
    await fc.assert(
      fc.asyncProperty(hostile, extra, async (values, extras) => {
        await expectHarmless(
          prepared,
          { ...example.arguments, ...values, ...extras },
          evidence,
          example,
          headers,
        );
      }),
      { numRuns: 60 },
    );
  });
});
