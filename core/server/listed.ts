import type { Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '../contract/pin';
import type { ServedResource } from './tools';

/** A tool as `tools/list` shows it. */
export function asMcpTool(tool: ToolDescriptor): Tool {
  return {
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: tool.inputSchema as Tool['inputSchema'],
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
    ...(tool.annotations === undefined ? {} : { annotations: withoutUndefined(tool.annotations) }),
  };
}

/** A resource without slots as `resources/list` shows it. */
export function asMcpResource(served: ServedResource): Resource {
  return { uri: served.resource.uri_template, ...described(served) };
}

/** A resource with slots as `resources/templates/list` shows it. */
export function asMcpTemplate(served: ServedResource): ResourceTemplateType {
  return { uriTemplate: served.resource.uri_template, ...described(served) };
}

function described({ descriptor: { name, title, description }, resource: { mime_type } }: ServedResource): {
  name: string;
  title?: string;
  description?: string;
  mimeType: string;
} {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    mimeType: mime_type,
  };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
}
