import type { ToolDescriptor } from '../contract/pin';

/**
 * What a server says that a tool does to the world (MCP 2025-11-25, `ToolAnnotations`, defaults included). It is the
 * server's claim: for a person who chooses, never for a decision of ours.
 */
export function effectOf({ annotations = {} }: ToolDescriptor): string {
  const { readOnlyHint = false, destructiveHint = true, idempotentHint = false, openWorldHint } = annotations;
  const claims = [
    readOnlyHint
      ? 'reads only'
      : `may change data${destructiveHint ? ', also destructively' : ', adding only'}${idempotentHint ? ', repeatable' : ''}`,
    ...(openWorldHint === false ? ['stays inside of its application'] : []),
  ];
  const said = Object.keys(annotations).some((key) => key.endsWith('Hint'));
  return said ? `Server claims: ${claims.join('; ')}` : 'Server does not say what it does to data';
}
