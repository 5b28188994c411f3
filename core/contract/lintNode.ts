import type { Fault } from './fault';
import type { Operation } from './operation';
import { recordOf } from './recordOf';
import type { NodeRequest } from './request';
import { askedOf, templateFaults } from './templateCheck';

/** What a value in the path of an address must never be. */
const CLIMBING = ['', '.', '..', '../x', 'a/b', 'a\\b', '%2e%2e', 'a%2fb', 'a?b', 'a#b'];

/**
 * An operation that a tool node of n8n runs. What the node asks of a model and what the contract declares are the same
 * arguments, and what it answers is cut down to fields that are named.
 */
export function* nodeFaults(
  operation: Operation,
  { node, reads_because: because }: NodeRequest,
): Generator<Fault> {
  const { name, input_schema: input } = operation;
  const at = ['request', 'node', 'parameters'];
  for (const reason of templateFaults([{ ...node, name }], because)) yield [at, reason];
  const asked = askedOf(node);
  const properties = recordOf(input['properties']);
  for (const [key, { type }] of asked) {
    const { type: declared } = recordOf(properties[key]);
    if (typeof declared !== 'string') yield [at, `asks for ${key}, which is not in the input schema`];
    else if (!(TYPES[type] ?? []).includes(declared)) {
      yield [at, `asks for ${key} as ${type}, and the input schema says ${declared}`];
    }
  }
  for (const key of Object.keys(properties)) {
    if (!asked.has(key))
      yield [['input_schema', 'properties', key], 'is asked for by no $fromAI of the node'];
  }
  const inPath =
    typeof node.parameters['url'] === 'string'
      ? askedOf({ parameters: { url: node.parameters['url'] } })
      : [];
  for (const [key] of inPath) {
    if (!isPlainSegment(recordOf(properties[key]))) {
      yield [
        ['input_schema', 'properties', key],
        'stands in a path and needs a pattern without dots, slashes and the like',
      ];
    }
  }
  for (const [argument, placement] of Object.entries(operation.request.arguments)) {
    if (placement.in !== 'template' || placement.allowed_by !== undefined) {
      yield [
        ['request', 'arguments', argument],
        'must be { in: template }: the node itself says where it goes',
      ];
    }
  }
  if (Object.keys(operation.request.bound).length > 0) {
    yield [['request', 'bound'], 'must be empty: a node of n8n knows no consumer'];
  }
  yield* answerFaults(node.parameters, operation);
}

const TYPES: Record<string, readonly string[]> = {
  string: ['string'],
  number: ['number', 'integer'],
  boolean: ['boolean'],
};

function isPlainSegment({ type, pattern }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'integer') return true;
  if (typeof pattern !== 'string' || !pattern.startsWith('^') || !pattern.endsWith('$')) return false;
  const plain = new RegExp(pattern, 'u');
  return !CLIMBING.some((text) => plain.test(text));
}

/** n8n's own node does the projection here, so it has to be told to. */
function* answerFaults(
  parameters: Readonly<Record<string, unknown>>,
  { response }: Operation,
): Generator<Fault> {
  const at = ['request', 'node', 'parameters'];
  const { optimizeResponse, responseType, fieldsToInclude, fields } = parameters;
  if (optimizeResponse !== true || responseType !== 'json' || fieldsToInclude !== 'selected') {
    yield [at, 'must select fields: optimizeResponse true, responseType json, fieldsToInclude selected'];
    return;
  }
  const named = typeof fields === 'string' ? fields.split(',').map((field) => field.trim()) : [];
  if (JSON.stringify([...named].sort()) !== JSON.stringify([...response.keep].sort())) {
    yield [[...at, 'fields'], 'must be the paths of response.keep, separated by commas'];
  }
}
