import type { Profile } from './profiles';
import type { Json } from './store';

const NODE_KEYS = new Set(
  'id name webhookId disabled notesInFlow notes type typeVersion executeOnce alwaysOutputData retryOnFail maxTries waitBetweenTries continueOnFail onError position parameters credentials createdAt updatedAt'.split(
    ' ',
  ),
);
const REQUIRED = ['name', 'nodes', 'connections', 'settings'];

/** What n8n says about the body of a create or update of a workflow; undefined when it takes it. */
export function faultOfWorkflow(body: unknown, profile: Profile): string | undefined {
  if (!isObject(body)) return 'request/body must be object';
  const readOnly = Object.keys(body).find((key) => profile.readOnly.includes(key));
  const unknown = unknownKeys(body, [...profile.writable, ...profile.readOnly]);
  // ajv sees unknown keys before it sees read-only ones; what n8n 2.41 asks for itself comes after those.
  if (unknown.length > 0 && profile.unknownKey === 'ajv') return unknownMessage('', unknown, profile);
  if (readOnly !== undefined) return `request/body/${readOnly} is read-only`;
  if (unknown.length > 0) return unknownMessage('', unknown, profile);
  const missing = REQUIRED.find((key) => !(key in body));
  if (missing !== undefined) return `request/body must have required property '${missing}'`;
  const { name, nodes, settings } = body;
  if (!Array.isArray(nodes)) return 'request/body/nodes must be array';
  for (const [index, node] of nodes.entries()) {
    const keys = isObject(node) ? unknownKeys(node, [...NODE_KEYS]) : [];
    if (keys.length > 0) return unknownMessage(`/nodes/${index}`, keys, profile);
  }
  if (!isObject(settings)) return 'request/body/settings must be object';
  const strange = unknownKeys(settings, profile.settings);
  if (strange.length > 0) return unknownMessage('/settings', strange, profile);
  if (profile.unknownKey === 'zod' && (name === '' || String(name).length > 128)) {
    return 'Workflow name must be 1 to 128 characters long.';
  }
  return undefined;
}

export function unknownMessage(pointer: string, keys: readonly string[], profile: Profile): string {
  return profile.unknownKey === 'ajv'
    ? `request/body${pointer} must NOT have additional properties`
    : `request/body${pointer} Unrecognized key(s) in object: ${keys.map((key) => `'${key}'`).join(', ')}`;
}

export function unknownKeys(object: object, known: readonly string[]): string[] {
  return Object.keys(object).filter((key) => !known.includes(key));
}

/** What n8n says about the data of a credential, never with a value in it; undefined when it takes it. */
export function faultOfCredential(data: unknown, schema: Json): string | undefined {
  if (!isObject(data)) return 'request.body.data is not of a type(s) object';
  const properties = (schema['properties'] ?? {}) as Record<string, { type?: string; enum?: unknown[] }>;
  const faults = unknownKeys(data, Object.keys(properties)).map(
    (key) => `is not allowed to have the additional property "${key}"`,
  );
  for (const [key, value] of Object.entries(data)) {
    const { type = '', enum: allowed } = properties[key] ?? {};
    if (['string', 'number', 'boolean'].includes(type) && typeof value !== type) {
      faults.push(`is not of a type(s) ${type}`);
    }
    if (allowed && !allowed.includes(value)) faults.push(`is not one of enum values: ${allowed.join(',')}`);
  }
  for (const key of requiredBy(schema, data)) {
    if (!(key in data)) faults.push(`requires property "${key}"`);
  }
  return faults.length === 0 ? undefined : faults.map((fault) => `request.body.data ${fault}`).join(',');
}

interface Condition {
  readonly if?: { readonly properties?: Record<string, { readonly enum?: readonly unknown[] }> };
  readonly then?: Json;
}

/** The required properties of a schema, with those that its conditions add. */
function requiredBy(schema: Json, data: Json): string[] {
  const always = (schema['required'] ?? []) as string[];
  const conditions = (schema['allOf'] ?? []) as Condition[];
  const more = conditions
    .filter(({ if: when }) =>
      Object.entries(when?.properties ?? {}).every(([key, { enum: values = [] }]) =>
        values.includes(data[key]),
      ),
    )
    .flatMap(({ then }) => (then ? requiredBy(then, data) : []));
  return [...always, ...more];
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
