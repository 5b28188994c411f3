import type { Fault } from './fault';
import type { Operation } from './operation';
import { parsePath, type PathSegment } from './paths';
import { recordOf } from './recordOf';

type Schema = Readonly<Record<string, unknown>>;

/**
 * What is kept of a record and what its schema promises have to be the same. Looks into `properties` and `items` only;
 * what these do not decide is left alone.
 */
export function* keepFaults({ output_schema: output, response }: Operation): Generator<Fault> {
  const { map } = response;
  for (const [index, path] of response.keep.entries()) {
    const segments = parsePath(path);
    const [first] = segments;
    if (map !== null && first?.kind === 'key' && first.key !== map.key && first.key !== map.value) {
      yield [['response', 'keep', index], `${path} is not in what map makes of a record`];
    } else if (!isDescribed(output, segments)) {
      yield [['response', 'keep', index], `${path} is not in output_schema`];
    }
  }
  for (const path of neverKept(output, response.keep.map(parsePath))) {
    yield [['output_schema', ...path], 'is never returned: no path of response.keep leads to it'];
  }
}

function isDescribed(given: unknown, [segment, ...rest]: readonly PathSegment[]): boolean {
  const schema = recordOf(given);
  if (!segment || isUndecided(schema)) return true;
  if (segment.kind === 'each') {
    if (hasType(schema, 'object')) return true;
    return hasType(schema, 'array') && isDescribed(schema['items'], rest);
  }
  if (!hasType(schema, 'object')) return false;
  const properties = recordOf(schema['properties']);
  if (Object.hasOwn(properties, segment.key)) return isDescribed(properties[segment.key], rest);
  const { additionalProperties: others } = schema;
  // Free keys are what an object without declared properties is for.
  return typeof others === 'object' || (others !== false && schema['properties'] === undefined);
}

/** Paths, inside `given`, of the properties that a closed schema declares and no path leads to. */
function* neverKept(given: unknown, paths: readonly PathSegment[][]): Generator<string[]> {
  const schema = recordOf(given);
  if (isUndecided(schema) || paths.some((path) => path.length === 0)) return;
  const each = paths.filter(([segment]) => segment?.kind === 'each').map(([, ...rest]) => rest);
  if (each.length > 0 && hasType(schema, 'array')) {
    for (const path of neverKept(schema['items'], each)) yield ['items', ...path];
  }
  for (const [name, property] of Object.entries(recordOf(schema['properties']))) {
    const named = paths.filter(([segment]) => segment?.kind === 'key' && segment.key === name);
    // As in the projection: a key that is named is not looked for under *.
    const leading = named.length > 0 ? named.map(([, ...rest]) => rest) : each;
    if (leading.length > 0) {
      for (const path of neverKept(property, leading)) yield ['properties', name, ...path];
    } else if (schema['additionalProperties'] === false) {
      yield ['properties', name];
    }
  }
}

const UNDECIDED = ['$ref', 'anyOf', 'oneOf', 'allOf', 'patternProperties', 'prefixItems'];

function isUndecided(schema: Schema): boolean {
  return schema['type'] === undefined || UNDECIDED.some((keyword) => keyword in schema);
}

function hasType(schema: Schema, type: string): boolean {
  return [schema['type']].flat().includes(type);
}
