import type { Fault } from './fault';
import type { Operation } from './operation';
import { recordOf } from './recordOf';
import { overlap } from './resource';
import { slotsOf } from './template';

/** What no shape can say of an operation that is read as a resource; paths start at the operation. */
export function* resourceFaults({ resource, input_schema: input, ...rest }: Operation): Generator<Fault> {
  if (resource === undefined) return;
  const { uri_template: template, content, encoding, mime_type: mimeType } = resource;
  const slots = slotsOf(template);
  const required: unknown[] = Array.isArray(input['required']) ? input['required'] : [];
  if (new Set(slots).size !== slots.length) yield [['resource', 'uri_template'], 'holds one slot twice'];
  for (const slot of slots) {
    if (!required.includes(slot)) {
      yield [['resource', 'uri_template'], `{${slot}} must be a required argument of the operation`];
    }
  }
  for (const name of required) {
    if (typeof name === 'string' && !slots.includes(name)) {
      yield [['resource', 'uri_template'], `needs a slot {${name}}: the operation cannot be read without it`];
    }
  }
  if (content === null) {
    if (mimeType !== 'application/json') {
      yield [['resource', 'mime_type'], 'must be application/json where content is null'];
    }
    if (encoding !== 'text') yield [['resource', 'encoding'], 'must be text where content is null'];
    return;
  }
  if (rest.response.items !== null) {
    yield [['resource', 'content'], 'must be null for a list: one resource is one record'];
    return;
  }
  if (!isText(rest.output_schema, content)) {
    yield [['resource', 'content'], 'must point to a text of the output schema'];
  }
}

/** Two templates that one URI fits would make it a matter of luck what is read. */
export function* resourceOverlaps(operations: readonly Operation[]): Generator<Fault> {
  for (const [index, { resource }] of operations.entries()) {
    const earlier = operations.slice(0, index).find((other) => {
      return resource && other.resource && overlap(resource.uri_template, other.resource.uri_template);
    });
    if (earlier) {
      yield [
        ['operations', index, 'resource', 'uri_template'],
        `cannot be told from ${earlier.resource?.uri_template ?? ''} of ${earlier.name}`,
      ];
    }
  }
}

function isText(schema: unknown, pointer: string): boolean {
  const keys = pointer.slice(1).split('/');
  const at = keys.reduce<unknown>((part, key) => {
    const name = key.replace(/~1/g, '/').replace(/~0/g, '~');
    return recordOf(recordOf(part)['properties'])[name];
  }, schema);
  const { type } = recordOf(at);
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}
