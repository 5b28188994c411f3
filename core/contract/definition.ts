import { z } from 'zod';
import { limitsSchema } from '../policy/limits';
import { sha256Of } from './canonical';
import { descriptorOf } from './descriptor';
import { operationSchema } from './operation';
import { pinOf, type ToolDescriptor } from './pin';
import { adapterSchema, type Contract } from './schema';
import { APPLICATION_ID_PATTERN } from './vocabulary';

/** What one MCP Read Tool node carries: one operation of a contract with what bounds it. */
export const operationDefinitionSchema = z.strictObject({
  application_id: z.string().regex(APPLICATION_ID_PATTERN),
  adapter: adapterSchema,
  limits: limitsSchema,
  operation: operationSchema,
});

export type OperationDefinition = z.infer<typeof operationDefinitionSchema>;

/** One Read Tool, parsed once and reused by hash. */
export interface PreparedOperation {
  readonly definition: OperationDefinition;
  readonly descriptor: ToolDescriptor;
  readonly pin: string;
  /** Hash of the whole definition: pins how upstream is called, which the tool's own pin does not show. */
  readonly definitionSha256: string;
}

export function definitionOf(
  contract: Contract,
  operation: Contract['operations'][number],
): OperationDefinition {
  const { application_id, adapter, limits } = contract;
  return { application_id, adapter, limits, operation };
}

export function prepareOperation(definition: OperationDefinition): PreparedOperation {
  const descriptor = descriptorOf(definition.operation);
  return { definition, descriptor, pin: pinOf(descriptor), definitionSha256: sha256Of(definition) };
}
