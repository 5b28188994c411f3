import { setTimeout as sleep } from 'node:timers/promises';

import type { AttachedHost } from '../hosts/host';

export interface Execution {
  id: string | number;
  status: string;
  finished: boolean;
  /** Items of the main output of every node that ran, by node name. */
  outputs: Record<string, Record<string, unknown>[]>;
  error: string | undefined;
}

interface StoredExecution {
  id: string | number;
  /** The public API of 1.100.1 does not tell. */
  status?: string;
  finished: boolean;
  stoppedAt: string | null;
  data?: {
    resultData?: {
      error?: { message?: string };
      runData?: Record<string, { data?: { main?: ({ json: Record<string, unknown> }[] | null)[] } }[]>;
    };
  };
}

/** All executions of a workflow, oldest first. */
export async function executionsOf(host: AttachedHost, workflowId: string): Promise<Execution[]> {
  const stored: StoredExecution[] = [];
  let cursor: string | null = null;
  do {
    const query = `workflowId=${workflowId}&includeData=true&limit=100${cursor ? `&cursor=${cursor}` : ''}`;
    const page: ExecutionPage = await host.api.get<ExecutionPage>(`/executions?${query}`);
    stored.push(...page.data);
    cursor = page.nextCursor ?? null;
  } while (cursor);
  return stored.map(executionOf).sort((a, b) => Number(a.id) - Number(b.id));
}

interface ExecutionPage {
  data: StoredExecution[];
  nextCursor?: string | null;
}

function executionOf({ id, status, finished, stoppedAt, data }: StoredExecution): Execution {
  return {
    id,
    status: status ?? (finished ? 'success' : stoppedAt ? 'error' : 'running'),
    finished,
    error: data?.resultData?.error?.message,
    outputs: Object.fromEntries(
      Object.entries(data?.resultData?.runData ?? {}).map(([name, runs]) => [
        name,
        runs.flatMap((run) => (run.data?.main?.[0] ?? []).map(({ json }) => json)),
      ]),
    ),
  };
}

/**
 * Waits until a workflow has at least `count` finished executions and gives all of them. n8n saves an execution after
 * the answer has left, so "none" can only be told after a later one has been saved.
 */
export async function untilExecutions(
  host: AttachedHost,
  workflowId: string,
  count: number,
): Promise<Execution[]> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const executions = await executionsOf(host, workflowId);
    const done = executions.filter(({ status }) => status !== 'running' && status !== 'new');
    if (done.length >= count) return executions;
    if (Date.now() > deadline) {
      throw new Error(`${executions.length} executions instead of ${count}: ${JSON.stringify(executions)}`);
    }
    await sleep(100);
  }
}
