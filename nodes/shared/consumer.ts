import type { INode, ISupplyDataFunctions } from 'n8n-workflow';
import type { JsonSchema } from '../../core/contract/pin';

const OF_N8N = '@n8n/n8n-nodes-langchain.';
/** The nodes of n8n that hand a JSON Schema on to a model as it is. */
const AGENT = /^@n8n\/n8n-nodes-langchain\.agent(?:Tool)?$/;

/** The node that tools are supplied to: there at run time (1.100.1 to 2.41.1), not in the published interface. */
function consumerOf(context: ISupplyDataFunctions): INode | undefined {
  return (context as { readonly parentNode?: INode }).parentNode;
}

/**
 * Whether the node that a tool is connected to reads schemas as zod schemas. n8n's own nodes do, its agents excepted:
 * its MCP Server Trigger and the nodes of model providers.
 */
export function readsZod(context: ISupplyDataFunctions): boolean {
  const type = consumerOf(context)?.type ?? '';
  return type.startsWith(OF_N8N) && !AGENT.test(type);
}

/**
 * Why the node that a tool is connected to could not use it; `undefined` where it can. The reason completes "The tool x
 * cannot be used: …".
 */
export function unfitFor(context: ISupplyDataFunctions, schema: JsonSchema): string | undefined {
  const { type = '', typeVersion = 0 } = consumerOf(context) ?? {};
  if (!type.startsWith(OF_N8N)) return undefined;
  const { properties } = schema;
  if (AGENT.test(type) && typeVersion >= 3 && isObject(properties) && Object.hasOwn(properties, 'tool')) {
    return "agents of n8n from version 3 on put the tool's own name into its argument tool";
  }
  return isConvertible(schema, DEEPEST) ? undefined : 'n8n 2.x could not read its input schema';
}

/** n8n 2.x has an end at about four times as many levels. */
const DEEPEST = 256;
const PARTS = ['additionalProperties', 'items', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'];
const NAMED_PARTS = ['properties', 'patternProperties'];

/**
 * Whether n8n 2.x can make a zod schema of it, which it does with the schema of every tool; an error there ends the
 * whole agent. What it cannot take: `null` for a schema, patterns that need the flag `u`, endless nesting.
 */
function isConvertible(part: unknown, levels: number): boolean {
  if (part === undefined || typeof part === 'boolean') return true;
  if (levels === 0) return false;
  if (Array.isArray(part)) return part.every((entry) => isConvertible(entry, levels - 1));
  if (!isObject(part)) return false;
  const { pattern } = part;
  if (typeof pattern === 'string' && !isPattern(pattern)) return false;
  return (
    PARTS.every((keyword) => isConvertible(part[keyword], levels - 1)) &&
    NAMED_PARTS.every((keyword) => {
      const named = part[keyword];
      return !isObject(named) || Object.values(named).every((entry) => isConvertible(entry, levels - 1));
    })
  );
}

/** With `u` as JSON Schema reads it, without as n8n does. */
function isPattern(text: string): boolean {
  try {
    return [new RegExp(text, 'u'), new RegExp(text)].length > 0;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is JsonSchema {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
