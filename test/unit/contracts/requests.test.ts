import { prepareOperation, definitionOf } from '../../../core/contract/definition';
import type { PreparedOperation } from '../../../core/contract/definition';
import { PolicyError } from '../../../core/policy/errors';
import { satisfies } from '../../../core/policy/arguments';
import { WEB_CONTRACTS } from '../contract/checkedIn';
import { expectedFile } from './expectedFile';
import {
  evidenceOf,
  EVIDENCE_FILES,
  exampleOf,
  type Evidence,
  type OperationEvidence,
  type RequestEvidence,
} from './evidence';
import { CANARY, withCanaries } from './canary';
import {
  answerOf,
  EvidenceUpstream,
  filled,
  ORIGIN,
  SECRET,
  shown,
  squeezed,
  TOKEN,
  withoutLayout,
} from './upstreamOf';

it('has evidence of every contract, and of nothing else', () => {
  expect([...EVIDENCE_FILES.keys()].sort()).toEqual(WEB_CONTRACTS.map(({ application_id: id }) => id).sort());
});

/** All of the request that the evidence describes. */
function expected({ identity }: Evidence, request: RequestEvidence): RequestEvidence {
  const { body } = request;
  return filled({
    ...request,
    query: { ...request.query, ...identity.query },
    headers: { ...request.headers, ...identity.headers },
    body: body === null ? undefined : comparable(body),
  });
}

function comparable(body: unknown): unknown {
  const xml = (body as { xml?: unknown } | undefined)?.xml;
  return typeof xml === 'string' ? { xml: squeezed(xml) } : withoutLayout(body);
}

describe.each(WEB_CONTRACTS.map((contract) => [contract.application_id, contract] as const))(
  '%s',
  (id, contract) => {
    const evidence = evidenceOf(id);
    const operations = contract.operations.map(
      (operation): [string, PreparedOperation, OperationEvidence] => {
        const found = exampleOf(evidence, operation.name);
        return [operation.name, prepareOperation(definitionOf(contract, operation)), found];
      },
    );

    it('is of the version that the evidence was read at, and has no other operations', () => {
      expect(contract.upstream.version).toBe(evidence.version);
      expect(contract.operations.map(({ name }) => name).sort()).toEqual(
        Object.keys(evidence.operations).sort(),
      );
    });

    it('takes the identity that upstream wants', () => {
      const { kind, optional } = contract.adapter.authentication;
      const { authentication } = evidence.access;
      expect(authentication === kind || (optional && authentication === 'none')).toBe(true);
    });

    it.each(operations)(
      '%s asks upstream what its documentation says, and nothing else',
      async (_name, prepared, found) => {
        const upstream = new EvidenceUpstream(evidence, () => answerOf(found));
        await upstream.call(prepared, found.arguments);
        expect(upstream.requests).toHaveLength(1);
        const [request] = upstream.requests;
        if (!request) return;
        expect(shown(request)).toEqual(expected(evidence, found.request));
        expect(request.url.origin).toBe(ORIGIN);
        expect(request.headers['accept-encoding']).toBe('identity');
      },
    );

    it.each(operations)(
      '%s answers in the declared shape, without what nobody may see',
      async (name, prepared, found) => {
        const answer = { ...answerOf(found), body: withCanaries(found.response.body, found.private) };
        const upstream = new EvidenceUpstream(evidence, () => answer);
        const { structured, text } = await upstream.call(prepared, found.arguments);
        expect(satisfies(prepared.descriptor.outputSchema ?? {}, structured)).toBe(true);
        for (const secret of [CANARY, SECRET, TOKEN, ORIGIN]) expect(text).not.toContain(secret);
        expect(`${JSON.stringify(structured, null, 2)}\n`).toBe(
          expectedFile(`results/${id}/${name}.json`, `${JSON.stringify(structured, null, 2)}\n`),
        );
      },
    );

    const failures = operations.flatMap(([name, prepared, found]) =>
      found.failures.map(
        (failure) => [name, failure.code, failure.status, prepared, found, failure] as const,
      ),
    );
    if (failures.length > 0) {
      it.each(failures)(
        '%s says %s where upstream fails with %i',
        async (_name, code, _status, prepared, found, failure) => {
          const upstream = new EvidenceUpstream(evidence, () => failure);
          const thrown = await upstream.call(prepared, found.arguments).catch((error: unknown) => error);
          expect(thrown).toBeInstanceOf(PolicyError);
          expect((thrown as PolicyError).code).toBe(code);
          for (const secret of [SECRET, TOKEN, ORIGIN])
            expect((thrown as PolicyError).message).not.toContain(secret);
        },
      );
    }
  },
);
