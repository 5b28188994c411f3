import { pinOf } from '../contract/pin';
import { listedTools, type Surface } from '../contract/surface';
import { PolicyError } from '../policy/errors';
import type { Limits } from '../policy/limits';
import type { ConnectedTool, ServedResource, ServedSurface, ToolSource } from './tools';

/**
 * A surface whose tools a pinned contract says. What is connected but not pinned is not served; what is pinned but
 * differs is refused at the call, with both hashes.
 */
export function contractSurface(surface: Surface, source: ToolSource): ServedSurface {
  const descriptors = listedTools(surface).map((tool) => tool.descriptor);
  const resources = surface.tools.flatMap(asResource);
  return {
    applicationId: surface.application_id,
    name: surface.name,
    instructions: surface.instructions,
    limits: surface.limits,
    credentialSubject: surface.credential_subject,
    allowedConsumers: new Set(surface.allowed_consumers),
    names: surface.tools.map(({ descriptor }) => descriptor.name),
    // A contract's operations read, and have nothing to log to a caller.
    logs: false,
    hasResources: resources.length > 0,
    pinned: descriptors,
    descriptors: () => Promise.resolve(descriptors),
    resources: () => Promise.resolve(resources),
    find: (name) => {
      const pinned = surface.tools.find((tool) => tool.descriptor.name === name);
      return Promise.resolve(
        pinned && {
          descriptor: pinned.descriptor,
          resource: pinned.resource,
          connect: async () => compared(pinned, await source.find(name)),
        },
      );
    },
  };
}

function asResource({
  descriptor,
  resource,
}: Pick<ConnectedTool, 'descriptor' | 'resource'>): ServedResource[] {
  return resource === undefined ? [] : [{ descriptor, resource }];
}

function compared(pinned: Surface['tools'][number], connected: ConnectedTool | undefined): ConnectedTool {
  const { name } = pinned.descriptor;
  if (!connected) throw missing(name);
  const pin = pinOf(connected.descriptor);
  if (pin !== pinned.pin) throw drift(name, pinned.pin, pin, 'descriptor');
  const definition = connected.definitionSha256;
  if (definition !== pinned.definition_sha256) {
    throw drift(name, pinned.definition_sha256 ?? 'none', definition ?? 'none', 'definition');
  }
  return connected;
}

export interface HandMadeSurface {
  readonly applicationId: string;
  readonly name: string;
  /** Exact tool names; never empty. */
  readonly tools: readonly string[];
  readonly limits: Limits;
  /** Whether something is connected that may send log messages. */
  readonly logs?: boolean;
  /** Whether something is connected that can be read as a resource. */
  readonly hasResources?: boolean;
}

/** A surface made in the editor: the listed names, as far as they are connected. Being connected alone serves nothing. */
export function handMadeSurface(settings: HandMadeSurface, source: ToolSource): ServedSurface {
  const listed = new Set(settings.tools);
  return {
    applicationId: settings.applicationId,
    name: settings.name,
    instructions: undefined,
    limits: settings.limits,
    credentialSubject: null,
    allowedConsumers: null,
    names: settings.tools,
    logs: settings.logs === true,
    hasResources: settings.hasResources === true,
    pinned: undefined,
    descriptors: async () =>
      inListedOrder(await source.all(), settings.tools)
        .filter(({ resource }) => resource?.expose !== 'resource')
        .map((tool) => tool.descriptor),
    resources: async () => inListedOrder(await source.all(), settings.tools).flatMap(asResource),
    find: async (name) => {
      const connected = listed.has(name) ? await source.find(name) : undefined;
      if (!connected) return undefined;
      const { descriptor, resource } = connected;
      return { descriptor, resource, connect: () => Promise.resolve(connected) };
    },
  };
}

function inListedOrder(tools: readonly ConnectedTool[], names: readonly string[]): ConnectedTool[] {
  return names.flatMap((name) => tools.filter((tool) => tool.descriptor.name === name).slice(0, 1));
}

/** Names for a sentence, bounded. */
export function nameList(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, 20).join(', ');
  return names.length <= 20 ? shown : `${shown} and ${String(names.length - 20)} more`;
}

function missing(name: string): PolicyError {
  return new PolicyError(
    'tool_missing',
    `The tool ${name} is served by this surface but not connected to the trigger; the operator has to connect it.`,
  );
}

function drift(name: string, pinned: string, found: string, part: string): PolicyError {
  return new PolicyError(
    'schema_drift',
    `The ${part} of ${name} is ${found}, and the contract pins ${pinned}; the operator has to review the change.`,
  );
}
