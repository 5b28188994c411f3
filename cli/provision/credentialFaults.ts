import { isObject, type JsonObject } from '../n8n/shapes';

/**
 * What does not fit between a credential and the schema that n8n checks it against, in the parts of JSON Schema that
 * n8n makes of a credential type. Names fields, never values.
 */
export function credentialFaults(schema: JsonObject, data: object): string[] {
  const given = data as JsonObject;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const faults: string[] = [];
  for (const key of requiredBy(schema, given)) if (!(key in given)) faults.push(`${key} is missing`);
  for (const [key, value] of Object.entries(given)) {
    const property = properties[key];
    if (property === undefined && schema['additionalProperties'] === false) faults.push(`${key} is unknown`);
    const allowed = isObject(property) ? property['enum'] : undefined;
    if (Array.isArray(allowed) && !allowed.includes(value)) faults.push(`${key} is none of its choices`);
  }
  return faults;
}

function requiredBy(schema: JsonObject, given: JsonObject): string[] {
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const conditions = Array.isArray(schema['allOf']) ? schema['allOf'].filter(isObject) : [];
  const more = conditions.filter((one) => holds(one['if'], given)).map((one) => one['then']);
  return [...required, ...more.filter(isObject).flatMap((then) => requiredBy(then, given))];
}

/** Whether the fields of a condition have one of the values that it names. */
function holds(condition: unknown, given: JsonObject): boolean {
  const properties = isObject(condition) ? condition['properties'] : undefined;
  if (!isObject(properties)) return false;
  return Object.entries(properties).every(([key, property]) => {
    const allowed = isObject(property) ? property['enum'] : undefined;
    return Array.isArray(allowed) && allowed.includes(given[key]);
  });
}
