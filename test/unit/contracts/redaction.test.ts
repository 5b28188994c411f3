import { definitionOf, prepareOperation } from '../../../core/contract/definition';
import { parsePath, readPointer, type PathSegment } from '../../../core/contract/paths';
import { REDACTED } from '../../../core/policy/redaction';
import { WEB_CONTRACTS } from '../contract/checkedIn';
import { CANARY } from './canary';
import { evidenceOf, exampleOf } from './evidence';
import { answerOf, EvidenceUpstream } from './upstreamOf';

const redacting = WEB_CONTRACTS.flatMap((contract) =>
  contract.operations
    .filter(({ response }) => response.redact.length > 0)
    .map((operation) => [operation.name, contract, operation] as const),
);

/** Makes the path where it is missing and puts the canary at its end. */
function force(value: unknown, [segment, ...rest]: readonly PathSegment[]): void {
  if (!segment || value === null || typeof value !== 'object') return;
  const holder = value as Record<string, unknown>;
  if (segment.kind === 'each') {
    for (const key of Object.keys(holder)) {
      if (rest.length === 0) holder[key] = CANARY;
      else force(holder[key], rest);
    }
    return;
  }
  if (rest.length === 0) {
    holder[segment.key] = CANARY;
    return;
  }
  const [next] = rest;
  if (holder[segment.key] === null || typeof holder[segment.key] !== 'object') {
    holder[segment.key] = next?.kind === 'each' ? [{}] : {};
  }
  force(holder[segment.key], rest);
}

it('is tested where contracts redact', () => {
  expect(redacting.length).toBeGreaterThan(0);
});

describe.each(redacting)('%s', (name, contract, operation) => {
  const evidence = evidenceOf(contract.application_id);
  const found = exampleOf(evidence, name);

  it.each(operation.response.redact)('never shows what stands at %s', async (path) => {
    const body: unknown = structuredClone(found.response.body);
    const { items, record } = operation.response;
    const records = items === null ? readPointer(body, record ?? '') : readPointer(body, items);
    for (const one of items === null ? [records] : Object.values(records as object))
      force(one, parsePath(path));
    const upstream = new EvidenceUpstream(evidence, () => ({ ...answerOf(found), body }));
    const { text } = await upstream.call(
      prepareOperation(definitionOf(contract, operation)),
      found.arguments,
    );
    expect(text).not.toContain(CANARY);
    expect(text).toContain(REDACTED);
  });
});
