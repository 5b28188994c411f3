import { setTimeout as sleep } from 'node:timers/promises';

import type { WorkflowNode } from '../../core/contract/render';
import type { HttpResponse } from '../hosts/api';
import type { AttachedHost } from '../hosts/host';

/** What a hand edit in the editor can change. */
export interface EditableWorkflow {
  name: string;
  nodes: WorkflowNode[];
  connections: Record<string, object>;
  settings: object;
}

/** Changes a workflow as a person would in the editor; an active one is registered again by n8n, on 2.x in the background. */
export async function editWorkflow(
  host: AttachedHost,
  workflowId: string,
  change: (workflow: EditableWorkflow) => void,
): Promise<HttpResponse> {
  const { name, nodes, connections } = await host.api.get<EditableWorkflow>(`/workflows/${workflowId}`);
  const workflow: EditableWorkflow = { name, nodes, connections, settings: { executionOrder: 'v1' } };
  change(workflow);
  return await host.api.request('PUT', `/workflows/${workflowId}`, { body: workflow });
}

/** Repeats a check until it passes, for what takes effect in the background; its last failure counts. */
export async function eventually(check: () => Promise<void> | void, limitMs = 10_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(150);
    }
  }
}
