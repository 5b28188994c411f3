import type { Operation } from '../../core/contract/operation';
import type { Contract } from '../../core/contract/schema';

/** A call that can be made without knowing anything of the application. */
export interface SafeRead {
  readonly operation: Operation;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * The calls of a contract that give the same answer kind every time and need no knowledge: first those that redact
 * something, since they prove more, then those of which every argument can be left out, then those whose required
 * arguments the contract itself gives a value for. Operations that do not claim to read only are never among them.
 */
export function safeReads({ operations }: Contract): SafeRead[] {
  const reads = operations.flatMap((operation): SafeRead[] => {
    const args = operation.annotations.readOnlyHint ? argumentsOf(operation.input_schema) : undefined;
    return args === undefined ? [] : [{ operation, args }];
  });
  const rank = ({ operation, args }: SafeRead) =>
    (operation.response.redact.length > 0 ? 0 : 2) + (Object.keys(args).length === 0 ? 0 : 1);
  return reads.sort((one, other) => rank(one) - rank(other));
}

/** Values for what is required; `undefined` when the contract has none for one of them. */
function argumentsOf(schema: Record<string, unknown>): Record<string, unknown> | undefined {
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  const properties = (schema['properties'] ?? {}) as Record<string, Record<string, unknown> | undefined>;
  const args: Record<string, unknown> = {};
  for (const name of required) {
    const value = valueOf(properties[name] ?? {});
    if (value === undefined) return undefined;
    args[name] = value;
  }
  return args;
}

function valueOf({ const: only, default: usual, examples, enum: choice }: Record<string, unknown>): unknown {
  const first = (list: unknown) => (Array.isArray(list) ? (list[0] as unknown) : undefined);
  return only ?? usual ?? first(examples) ?? first(choice);
}
