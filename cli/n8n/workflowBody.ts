import { N8nApiError } from './errors';
import { readMade, readWorkflow, type N8nWorkflow } from './shapes';
import type { Call, N8nTransport } from './transport';

/** What a workflow is made of, as far as it is written. Everything else has calls of its own, or is n8n's. */
export interface WorkflowBody {
  readonly name: string;
  readonly nodes: readonly object[];
  readonly connections: object;
  readonly settings: object;
}

/**
 * The body of a create or update: exactly the four fields that every release takes, whatever else `wanted` holds.
 *
 * @param existing settings that stay unless `wanted` sets them
 * @param refused keys of settings that this n8n does not take
 */
export function workflowBody(
  { name, nodes, connections, settings }: WorkflowBody,
  existing: object = {},
  refused: ReadonlySet<string> = new Set(),
): { body: WorkflowBody; droppedSettings: string[] } {
  const all = Object.entries({ ...existing, ...settings });
  const kept = all.filter(([key]) => !refused.has(key));
  return {
    body: { name, nodes, connections, settings: Object.fromEntries(kept) },
    droppedSettings: all
      .map(([key]) => key)
      .filter((key) => refused.has(key))
      .sort(),
  };
}

/** A workflow as n8n has it after a write. */
export interface WrittenWorkflow extends N8nWorkflow {
  /** Keys of settings that this n8n does not take, and that were left out. */
  readonly droppedSettings: readonly string[];
}

/** Writes workflows. Settings that n8n refuses are left out, once, and not sent to it again. */
export class WorkflowWriter {
  readonly #refused = new Set<string>();

  constructor(private readonly transport: N8nTransport) {}

  async write(call: Omit<Call, 'body'>, wanted: WorkflowBody, existing: object): Promise<WrittenWorkflow> {
    for (;;) {
      const { body, droppedSettings } = workflowBody(wanted, existing, this.#refused);
      let answer: unknown;
      try {
        answer = await this.transport.request({ ...call, body });
      } catch (error) {
        const refused = error instanceof N8nApiError ? refusedSettings(error, body.settings) : [];
        if (refused.length === 0) throw error;
        // At least one key less each time; where n8n does not name them, two rounds at most.
        for (const key of refused) this.#refused.add(key);
        continue;
      }
      const workflow =
        call.kind === 'create' ? readMade(answer, 'the workflow', readWorkflow) : readWorkflow(answer);
      return { ...workflow, droppedSettings };
    }
  }
}

/** The settings that the public API has taken since 1.100.1. */
const EVERYWHERE = new Set([
  'saveExecutionProgress',
  'saveManualExecutions',
  'saveDataErrorExecution',
  'saveDataSuccessExecution',
  'executionTimeout',
  'errorWorkflow',
  'timezone',
  'executionOrder',
]);

/** Those that releases between 2.4 and 2.14 take as well; they too refuse others without naming them. */
const SINCE_2_4 = new Set([
  ...EVERYWHERE,
  'callerPolicy',
  'callerIds',
  'timeSavedPerExecution',
  'availableInMCP',
]);

/**
 * Which settings have to be left out because n8n refused them: those that it names, else those that are not known to
 * be taken everywhere. Empty when the refusal is about something else, or when nothing can be left out.
 */
export function refusedSettings({ code, message }: N8nApiError, sent: object): string[] {
  if (code !== 'rejected' || !message.includes('request/body/settings')) return [];
  const keys = Object.keys(sent);
  const named = /Unrecognized key\(s\) in object: (.*)$/.exec(message)?.[1];
  if (named !== undefined) return keys.filter((key) => named.includes(`'${key}'`));
  if (!/additional propert/i.test(message)) {
    const one = /request\/body\/settings\/([A-Za-z]+) is read-only/.exec(message)?.[1];
    return keys.filter((key) => key === one);
  }
  const young = keys.filter((key) => !SINCE_2_4.has(key));
  return young.length > 0 ? young : keys.filter((key) => !EVERYWHERE.has(key));
}

/** What to tell about settings that were left out. */
export function droppedSettingsNote(dropped: readonly string[]): string {
  return (
    `This n8n does not take the workflow settings ${dropped.join(', ')} through its public API. They were left out; ` +
    'if a person had set them, they may be gone.'
  );
}
