import type { AgentTool } from './langchainTool';

/**
 * Several tools of one node, in the one form that every host takes: n8n 1.x flattens arrays and knows toolkits only by
 * its own class; n8n 2.x notes the node's name, without which an agent cannot call a tool, only on a single tool or on
 * an object that has `tools` and `getTools`.
 */
export class Toolkit extends Array<AgentTool> {
  /** What n8n makes of this list by `map` and `filter` is a plain list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  get tools(): AgentTool[] {
    return this;
  }

  getTools(): AgentTool[] {
    return this;
  }
}

export function toolkitOf(tools: readonly AgentTool[]): Toolkit {
  const toolkit = new Toolkit();
  for (const tool of tools) toolkit.push(Object.assign(tool, { metadata: { isFromToolkit: true } }));
  return toolkit;
}
