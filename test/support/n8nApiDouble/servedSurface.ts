import type { IncomingMessage, ServerResponse } from 'node:http';
import { operationDefinitionSchema, prepareOperation } from '../../../core/contract/definition';
import type { JsonSchema } from '../../../core/contract/pin';
import { surfaceSchema, type Surface } from '../../../core/contract/surface';
import { PolicyError } from '../../../core/policy/errors';
import { ConcurrencyGate } from '../../../core/policy/limits';
import { RateLimiter } from '../../../core/policy/rate';
import { authenticate } from '../../../core/server/authenticate';
import { parseConsumers } from '../../../core/server/consumers';
import { serve } from '../../../core/server/serve';
import { contractSurface } from '../../../core/server/surfaces';
import type { ConnectedTool } from '../../../core/server/tools';
import { pathOf, runningNodes } from './publishing';
import type { Json, N8nStore, NodeRow } from './store';

/** What the application behind a tool answers; throw a PolicyError for one that fails. */
export type ToolAnswer = (args: Json) => Json;

const gate = new ConcurrencyGate();
const rates = new RateLimiter();

/**
 * Answers with the server core what a managed trigger would: the surface of its parameters, to the consumers of its
 * credential, by the Read Tools that are connected.
 *
 * @returns false for a path on which no trigger with a whole surface is running
 */
export async function servedByCore(
  store: N8nStore,
  path: string,
  request: IncomingMessage,
  body: { readonly text: string; readonly json: unknown },
  answers: ReadonlyMap<string, ToolAnswer>,
  response: ServerResponse,
): Promise<boolean> {
  const workflow = store.workflows.get(store.served.get(path) ?? '');
  const nodes = workflow ? runningNodes(workflow) : [];
  const trigger = nodes.find((node) => pathOf(node) === path);
  const surface = trigger && surfaceOfTrigger(trigger);
  if (!surface) return false;
  const tools = nodes.flatMap((node) => readTool(node, store, answers));
  const { answer } = await serve(
    {
      method: request.method ?? '',
      rawHeaders: request.rawHeaders,
      body: body.json,
      bodyBytes: Buffer.byteLength(body.text),
      signal: new AbortController().signal,
    },
    {
      applicationId: surface.application_id,
      identify: async (authorization, now) =>
        await Promise.resolve(authenticate(authorization, consumersOf(trigger, store), now)),
      metadataAddress: () => undefined,
      surface: () =>
        contractSurface(surface, {
          find: (name) => Promise.resolve(tools.find(({ descriptor }) => descriptor.name === name)),
          all: () => Promise.resolve(tools),
        }),
      allowedOrigins: new Set(),
      allowedHosts: new Set(),
      ownHosts: () => [],
      gate,
      gateKey: path,
      rates,
      takeUndelivered: () => 0,
      serverVersion: '0',
      now: Date.now,
    },
  );
  response.writeHead(answer.status, answer.headers).end(answer.body);
  return true;
}

function surfaceOfTrigger({ parameters }: NodeRow): Surface | undefined {
  const text = parameters?.['surface'];
  const parsed = surfaceSchema.safeParse(typeof text === 'string' ? JSON.parse(text) : undefined);
  return parsed.success ? parsed.data : undefined;
}

function consumersOf({ credentials }: NodeRow, store: N8nStore): ReturnType<typeof parseConsumers> {
  const credential = store.credentials.get(credentials?.['mcpConsumersApi']?.id ?? '');
  if (!credential) throw new PolicyError('surface_unconfigured', 'The credential is not there.');
  return parseConsumers(credential.data);
}

function readTool(
  { parameters, credentials }: NodeRow,
  store: N8nStore,
  answers: ReadonlyMap<string, ToolAnswer>,
): ConnectedTool[] {
  const definition = parameters?.['definition'];
  if (typeof definition !== 'string') return [];
  const { descriptor, definitionSha256 } = prepareOperation(
    operationDefinitionSchema.parse(JSON.parse(definition)),
  );
  return [
    {
      descriptor,
      definitionSha256,
      invoke: (args) => {
        const [upstream] = Object.values(credentials ?? {});
        if (!store.credentials.has(upstream?.id ?? '')) {
          throw new PolicyError('credential_missing', 'The upstream credential is not there.');
        }
        const answer = answers.get(descriptor.name)?.(args) ?? sampleOf(descriptor.outputSchema ?? {});
        const structuredContent = answer as Record<string, unknown>;
        return Promise.resolve({
          content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
          structuredContent,
        });
      },
    },
  ];
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  array: [],
  null: null,
};

/** The least that fits a schema: of what is required, empty values. */
function sampleOf({ properties = {}, required = [] }: JsonSchema): Json {
  const named = properties as Record<string, { type?: string | string[] }>;
  return Object.fromEntries(
    (required as string[]).map((name) => {
      const type = [named[name]?.type ?? 'null'].flat()[0] ?? 'null';
      return [name, type === 'object' ? {} : SAMPLES[type]];
    }),
  );
}
