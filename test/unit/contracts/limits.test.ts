import { definitionOf, prepareOperation } from '../../../core/contract/definition';
import type { Operation } from '../../../core/contract/operation';
import { readPointer } from '../../../core/contract/paths';
import { PolicyError } from '../../../core/policy/errors';
import { WEB_CONTRACTS } from '../contract/checkedIn';
import { evidenceOf, exampleOf } from './evidence';
import { answerOf, EvidenceUpstream, shown } from './upstreamOf';

const operations = WEB_CONTRACTS.flatMap((contract) =>
  contract.operations.map((operation) => {
    const evidence = evidenceOf(contract.application_id);
    const example = exampleOf(evidence, operation.name);
    const prepared = prepareOperation(definitionOf(contract, operation));
    return { name: operation.name, contract, operation, prepared, evidence, example };
  }),
);

const requiredOf = ({ input_schema: { required } }: Operation): string[] =>
  Array.isArray(required) ? (required as string[]) : [];

describe.each(operations)('$name', ({ contract: { limits }, operation, prepared, evidence, example }) => {
  const { pagination, response } = operation;
  const call = async (changes: object, args = example.arguments) => {
    const upstream = new EvidenceUpstream(evidence, () => ({ ...answerOf(example), ...changes }));
    const outcome = await upstream.call(prepared, args).catch((error: unknown) => error);
    return { outcome, upstream };
  };

  it('refuses an answer above response_bytes as a whole', async () => {
    const declared = { 'content-length': String(limits.response_bytes + 1) };
    const { outcome } = await call({ headers: { ...example.response.headers, ...declared } });
    expect(outcome).toBeInstanceOf(PolicyError);
    expect((outcome as PolicyError).code).toBe('response_too_large');
  });

  const { size_argument: size } = pagination;
  const placement = size === null ? undefined : operation.request.arguments[size];
  if (size !== null && placement?.in === 'query') {
    it('asks for no more than page_size records, whatever the caller leaves out', async () => {
      const { [size]: _size, ...rest } = example.arguments;
      const { upstream } = await call({}, rest);
      const [request] = upstream.requests;
      const asked = request && Number(shown(request).query[placement.as]);
      expect(asked).toBeGreaterThan(0);
      expect(asked).toBeLessThanOrEqual(limits.page_size);
    });
  }

  if (response.items !== null && response.map === null) {
    it('returns no more than page_size and result_items records and says that there are more', async () => {
      const body: unknown = structuredClone(example.response.body);
      const pointer = response.headers
        ? (response.items ?? '').replace(/^\/body/, '')
        : (response.items ?? '');
      const list = readPointer(body, pointer);
      if (typeof body === 'string' || !Array.isArray(list) || list.length === 0) return;
      // One record, chosen by its id: there are never more.
      if (requiredOf(operation).some((name) => operation.request.arguments[name]?.in === 'result')) return;
      const most = Math.min(limits.result_items, size === null ? Infinity : limits.page_size);
      const one: unknown = list[0];
      while (list.length <= most) list.push(one);
      const rest = Object.entries(example.arguments).filter(
        ([name]) => name !== size && operation.request.arguments[name]?.in !== 'result',
      );
      const { outcome } = await call({ body }, Object.fromEntries(rest));
      // Many large records are more than a result may hold, which is told too.
      if (outcome instanceof PolicyError) expect(outcome.code).toBe('response_too_large');
      else {
        const { structured } = outcome as { structured: { items: unknown[]; truncated: boolean } };
        expect(structured.items.length).toBeLessThanOrEqual(most);
        expect(structured.truncated).toBe(true);
      }
    });
  }

  it('says that it failed when upstream answers in another shape', async () => {
    const { type } = example.response;
    if (!type.includes('json')) return;
    for (const other of [{ login: 'required' }, [], 'text', 5]) {
      const { outcome } = await call({ body: other });
      if (outcome instanceof PolicyError) {
        expect(['upstream_unexpected_shape', 'upstream_not_found', 'upstream_rejected']).toContain(
          outcome.code,
        );
      } else {
        // An empty list is an answer.
        expect([other, (outcome as { structured: { items?: unknown } }).structured.items]).toEqual([[], []]);
      }
    }
  });

  it('says that it failed when upstream answers with a sign-in page', async () => {
    const { outcome } = await call({ type: 'text/html', body: '<title>Sign in</title>' });
    expect((outcome as PolicyError).code).toBe('upstream_not_json');
  });
});
