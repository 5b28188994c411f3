import type { INode } from 'n8n-workflow';
import { PolicyError } from '../../core/policy/errors';

/**
 * A parameter as it was saved, without the expression engine: what is served must not depend on data, and on n8n 2.x
 * reading it through the engine costs every request an isolate.
 *
 * @throws PolicyError `surface_unconfigured` when somebody put an expression there
 */
export function staticParameter(node: INode, name: string): unknown {
  const value: unknown = node.parameters[name];
  if (typeof value === 'string' && value.startsWith('=')) {
    throw new PolicyError(
      'surface_unconfigured',
      `The parameter ${name} must be a fixed value, not an expression.`,
    );
  }
  return value;
}

/** The same for a text; anything else counts as empty. */
export function staticText(node: INode, name: string): string {
  const value = staticParameter(node, name);
  return typeof value === 'string' ? value : '';
}
