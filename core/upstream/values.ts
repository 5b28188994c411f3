import type { OperationDefinition } from '../contract/definition';
import type { ArgumentPlacement, OperationRequest } from '../contract/request';
import { PolicyError } from '../policy/errors';
import type { UpstreamAccess } from './access';
import { pathSegment, pathSegments, scalarText } from './segments';
import { requiredSetting, type UpstreamSettings } from './settings';

/** Who calls, as far as an operation may bind a slot to it. */
export interface CallerIdentity {
  /** `null` for a caller that is no named consumer, such as an agent inside n8n. */
  readonly consumer: string | null;
  readonly tenant: string | null;
}

/** What a credential can give to a request besides address and identity. */
export type BindingAccess = Pick<UpstreamAccess, 'kind' | 'settings' | 'account' | 'secret'>;

/** The values of one call, each in the place that the contract gives it. */
export interface PlacedValues {
  /** Path slots, encoded. */
  readonly slots: ReadonlyMap<string, string>;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** For templates, with their types. */
  readonly template: ReadonlyMap<string, unknown>;
}

/**
 * Puts every argument and every bound value into its place.
 *
 * @param args validated against the operation's input schema, page size clamped
 * @throws PolicyError `arguments_invalid` for a value that cannot be one path segment or that the operator did not list;
 * `credential_missing` where nothing can fill a bound slot
 */
export function placeValues(
  { arguments: places, bound }: Pick<OperationRequest, 'arguments' | 'bound'>,
  tool: OperationDefinition['operation']['name'],
  args: Readonly<Record<string, unknown>>,
  identity: CallerIdentity,
  access: BindingAccess,
): PlacedValues {
  const slots = new Map<string, string>();
  const query: [string, string][] = [];
  const template = new Map<string, unknown>();
  for (const [name, placement] of Object.entries(places)) {
    const value = args[name];
    if (value === undefined || value === null || placement.in === 'result') continue;
    refuseUnlisted(placement, name, value, access.settings);
    if (placement.in === 'template') template.set(name, value);
    else if (placement.in === 'path') {
      const text = scalarText(value, name);
      slots.set(
        placement.as,
        placement.join === undefined ? pathSegment(text, name) : pathSegments(text, name, placement.join),
      );
    } else {
      const text = scalarText(value, name);
      query.push([placement.as, placement.values?.[text] ?? text]);
    }
  }
  for (const [name, binding] of Object.entries(bound)) {
    // Only a contract whose authentication is optional lets a request come here without one.
    if (binding.from === 'secret' && access.kind === 'none') continue;
    const value = boundValue(binding, tool, identity, access);
    if (binding.in === 'path') slots.set(binding.as, pathSegment(value, name));
    else if (binding.in === 'query') query.push([binding.as, value]);
    else template.set(binding.as, value);
  }
  return { slots, query, template };
}

/** @throws PolicyError `arguments_invalid` for a value that is not on the operator's list */
export function refuseUnlisted(
  placement: Exclude<ArgumentPlacement, { in: 'result' }>,
  name: string,
  value: unknown,
  settings: UpstreamSettings,
): void {
  if (placement.allowed_by === undefined) return;
  if (requiredSetting(settings, placement.allowed_by).includes(scalarText(value, name))) return;
  throw new PolicyError(
    'arguments_invalid',
    `Argument /${name} must be one of those that the operator allows under ${placement.allowed_by}.`,
    { pointer: `/${name}` },
  );
}

function boundValue(
  { from, setting }: OperationRequest['bound'][string],
  tool: string,
  { consumer, tenant }: CallerIdentity,
  access: BindingAccess,
): string {
  switch (from) {
    case 'setting':
      return requiredSetting(access.settings, setting ?? '').join(',');
    case 'account':
    case 'secret': {
      const value = access[from];
      if (value !== '') return value;
      throw new PolicyError(
        'credential_missing',
        `The upstream credential has no ${from}, which ${tool} needs.`,
      );
    }
    case 'consumer':
    case 'tenant': {
      const value = from === 'consumer' ? consumer : tenant;
      if (value !== null) return value;
      throw new PolicyError('credential_missing', `This consumer has no ${from}, which ${tool} needs.`);
    }
  }
}
