import { z } from 'zod';
import { limitsSchema } from '../policy/limits';
import { SHA256_PATTERN, sha256Of } from './canonical';
import { definitionOf, prepareOperation } from './definition';
import { jsonSchemaSchema } from './operation';
import { cataloguePin, pinOf, resourcePinOf, type ToolDescriptor } from './pin';
import { resourceSchema, type ResourceDeclaration } from './resource';
import type { Contract } from './schema';
import { APPLICATION_ID_PATTERN } from './vocabulary';

const sha256 = z.string().regex(SHA256_PATTERN);

const servedToolSchema = z.strictObject({
  descriptor: z.strictObject({
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    inputSchema: jsonSchemaSchema,
    outputSchema: jsonSchemaSchema.optional(),
    annotations: z
      .strictObject({
        readOnlyHint: z.boolean().optional(),
        destructiveHint: z.boolean().optional(),
        idempotentHint: z.boolean().optional(),
        openWorldHint: z.boolean().optional(),
      })
      .optional(),
  }),
  pin: sha256,
  /** Of a Read Tool: hash of its whole definition. Null for a native tool, which has none. */
  definition_sha256: sha256.nullable(),
  resource: resourceSchema.optional(),
});

interface Visible {
  readonly descriptor: ToolDescriptor;
  readonly pin: string;
  readonly resource?: ResourceDeclaration | undefined;
}

/** Pins of everything that is listed: as a tool, as a resource, or as both. */
function visiblePins(tools: readonly Visible[]): string[] {
  return tools.flatMap(({ descriptor, pin, resource }) => [
    ...(resource?.expose === 'resource' ? [] : [pin]),
    ...(resource === undefined ? [] : [resourcePinOf(descriptor, resource)]),
  ]);
}

/** The pinned contract as the Server Trigger carries it: enough to answer every list without supplying a tool. */
export const surfaceSchema = z
  .strictObject({
    application_id: z.string().regex(APPLICATION_ID_PATTERN),
    name: z.string().min(1),
    instructions: z.string(),
    contract_sha256: sha256,
    surface_sha256: sha256.describe('Hash over all the rest, so that a slip of the hand does not go unseen.'),
    catalogue_pin: sha256,
    allowed_consumers: z.array(z.string().regex(APPLICATION_ID_PATTERN)).min(1),
    credential_subject: z.string().nullable(),
    limits: limitsSchema,
    tools: z.array(servedToolSchema).min(1),
  })
  .superRefine(({ surface_sha256: hash, ...rest }, context) => {
    if (sha256Of(rest) !== hash) {
      const message = 'does not match the rest; render the workflow from its contract again';
      context.addIssue({ code: 'custom', path: ['surface_sha256'], message });
    }
    rest.tools.forEach((tool, index) => {
      if (pinOf(tool.descriptor) !== tool.pin) {
        context.addIssue({
          code: 'custom',
          path: ['tools', index, 'pin'],
          message: 'does not match the descriptor; render the workflow from its contract again',
        });
      }
    });
    if (cataloguePin(visiblePins(rest.tools)) !== rest.catalogue_pin) {
      context.addIssue({ code: 'custom', path: ['catalogue_pin'], message: 'does not match the pins' });
    }
  });

export type Surface = z.infer<typeof surfaceSchema>;

/** Pins of a contract's tools in the order of its operations, and the catalogue pin over all. */
export function surfaceOf(contract: Contract): Surface {
  const tools = contract.operations.map((operation) => {
    const { descriptor, pin, definitionSha256 } = prepareOperation(definitionOf(contract, operation));
    const { resource } = operation;
    return { descriptor, pin, definition_sha256: definitionSha256, ...(resource ? { resource } : {}) };
  });
  const rest = {
    application_id: contract.application_id,
    name: contract.name,
    instructions: contract.instructions.trim(),
    contract_sha256: sha256Of(contract),
    catalogue_pin: cataloguePin(visiblePins(tools)),
    allowed_consumers: contract.allowed_consumers,
    credential_subject: contract.credential?.owner ?? null,
    limits: contract.limits,
    tools,
  };
  return { ...rest, surface_sha256: sha256Of(rest) };
}

/** The tools that `tools/list` shows; what is read as a resource only is none of them. */
export function listedTools(surface: Surface): Surface['tools'] {
  return surface.tools.filter(({ resource }) => resource?.expose !== 'resource');
}
