import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { parseJson } from '../../core/contract/parseJson';
import { rememberParsed } from '../../core/contract/rememberParsed';
import { surfaceSchema, type Surface } from '../../core/contract/surface';
import { APPLICATION_ID_PATTERN } from '../../core/contract/vocabulary';
import type { Recording } from '../../core/policy/audit';
import { PolicyError } from '../../core/policy/errors';
import { limitsSchema } from '../../core/policy/limits';
import { foreignText } from '../../core/policy/redaction';
import type { Consumer } from '../../core/server/consumers';
import { rememberedConsumers } from '../../core/server/rememberConsumers';
import { contractSurface, handMadeSurface, type HandMadeSurface } from '../../core/server/surfaces';
import type { ServedSurface, ToolSource } from '../../core/server/tools';
import { staticParameter } from '../shared/staticParameter';
import { connectedNodeNames } from './connectedTools';
import { hostCredential } from './hostCredential';

type TriggerContext = IWebhookFunctions | IHookFunctions;

const parseSurface = rememberParsed((text): Surface => parseJson(surfaceSchema, text, 'Surface'));

const toolNames = z.array(z.string().trim().min(1).max(128));

/** What the node serves. @throws PolicyError `surface_unconfigured` */
export function servedSurface(context: TriggerContext, source: ToolSource): ServedSurface {
  if (isContract(context)) return contractSurface(pinned(context), source);
  const settings = handMade(context);
  return handMadeSurface(settings, reportingMissing(settings.tools, source, context));
}

/** A name that is listed and not connected serves nothing; without a word nobody would find the slip of the pen. */
function reportingMissing(
  names: readonly string[],
  source: ToolSource,
  { logger }: TriggerContext,
): ToolSource {
  return {
    ...source,
    all: async () => {
      const tools = await source.all();
      const connected = tools.map(({ descriptor }) => descriptor.name);
      const missing = names.filter((name) => !connected.includes(name));
      if (missing.length > 0) {
        const shown = (list: readonly string[]) => foreignText(list.join(', ') || 'none', 300);
        logger.warn(`mcp_tool_not_connected ${shown(missing)}; connected tools: ${shown(connected)}`);
      }
      return tools;
    },
  };
}

/** The provider's name for the audit event, without failing over the rest of the configuration. */
export function applicationIdOf(context: TriggerContext): string {
  try {
    return isContract(context) ? pinned(context).application_id : handMade(context).applicationId;
  } catch {
    return 'unconfigured';
  }
}

/** @throws PolicyError `surface_unconfigured` when no credential is set or it cannot be used */
export async function consumersOf(context: TriggerContext): Promise<readonly Consumer[]> {
  const credential = await hostCredential(context, 'mcpConsumersApi').catch((cause: unknown) => {
    throw new PolicyError(
      'surface_unconfigured',
      'The trigger has no MCP consumers credential; choose one.',
      {
        cause,
      },
    );
  });
  return rememberedConsumers(credential);
}

/** Anything but one of the choices counts as the default. */
export function recordingOf(context: TriggerContext): Recording {
  const value: unknown = context.getNode().parameters['recording'];
  return value === 'all' || value === 'none' ? value : 'refusals';
}

export function allowedOriginsOf(context: TriggerContext): ReadonlySet<string> {
  const options = parameter(context, 'options', {}) as { allowedOrigins?: unknown };
  const list = typeof options.allowedOrigins === 'string' ? options.allowedOrigins : '';
  return new Set(
    list
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== '' && origin !== '*'),
  );
}

function isContract(context: TriggerContext): boolean {
  return parameter(context, 'serve', 'contract') !== 'names';
}

function pinned(context: TriggerContext): Surface {
  const text = parameter(context, 'surface', '');
  if (typeof text !== 'string' || text.trim() === '') {
    throw new PolicyError(
      'surface_unconfigured',
      'Surface is empty; paste the rendered surface of a contract, or serve listed tool names.',
    );
  }
  return parseSurface(text);
}

function handMade(context: TriggerContext): HandMadeSurface {
  const applicationId = String(parameter(context, 'applicationId', ''));
  if (!APPLICATION_ID_PATTERN.test(applicationId)) {
    throw new PolicyError('surface_unconfigured', 'Application ID must look like web-app-example.');
  }
  const names = toolNames.safeParse(parameter(context, 'toolNames', []));
  if (!names.success || names.data.length === 0) {
    const connected = connectedNodeNames(context).map((name) => foreignText(name, 80));
    throw new PolicyError(
      'surface_unconfigured',
      `Tool Names is empty, so nothing would be served. Connected: ${connected.length === 0 ? 'none' : connected.join(', ')}.`,
    );
  }
  const limits = limitsSchema.safeParse(parameter(context, 'limits', {}));
  if (!limits.success) {
    const at = limits.error.issues[0]?.path.join('.') ?? '';
    throw new PolicyError('surface_unconfigured', `The limit ${at} is missing or out of range.`);
  }
  return { applicationId, name: context.getNode().name, tools: names.data, limits: limits.data };
}

function parameter(context: TriggerContext, name: string, fallback: object | string): unknown {
  return staticParameter(context.getNode(), name) ?? fallback;
}
