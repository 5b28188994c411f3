import type { IWebhookFunctions } from 'n8n-workflow';
import { METADATA_SUFFIX } from '../../core/server/metadata';
import { staticText } from '../shared/staticParameter';

/** n8n's first path segment for what MCP triggers serve, as long as `N8N_ENDPOINT_MCP` says nothing else. */
const SEGMENT = 'mcp';

/**
 * The address of the endpoint as clients know it: what the operator says, else what n8n is told to be reached at
 * (`WEBHOOK_URL`). Never what a request claims, since whoever sends it could point clients elsewhere.
 */
export function publicAddress(context: IWebhookFunctions): string | undefined {
  const said = optionText(context, 'publicAddress');
  if (said !== '') return URL.canParse(said) ? new URL(said).href : undefined;
  const told = toldAddress(context);
  if (told === undefined || !URL.canParse(told)) return undefined;
  const url = new URL(told);
  url.pathname = withoutWebhook(url.pathname, staticText(context.getNode(), 'path'));
  return url.href;
}

function toldAddress(context: IWebhookFunctions): string | undefined {
  try {
    return context.getNodeWebhookUrl('default');
  } catch {
    // A challenge without the address is better than none.
    return undefined;
  }
}

/** n8n 1.100.1 says /webhook/<path> of what it serves under /mcp/<path>. */
function withoutWebhook(pathname: string, given: string): string {
  const path = given.replace(/^\/+|\/+$/g, '');
  const end = `/webhook/${path}`;
  return pathname.endsWith(end) ? `${pathname.slice(0, -end.length)}/${SEGMENT}/${path}` : pathname;
}

/** Where the metadata of the endpoint is. A proxy may serve it at the well-known path of the host as well. */
export function metadataAddress(context: IWebhookFunctions): string | undefined {
  const address = publicAddress(context);
  return address === undefined ? undefined : `${address.replace(/\/+$/, '')}${METADATA_SUFFIX}`;
}

function optionText(context: IWebhookFunctions, name: string): string {
  const options = context.getNode().parameters['options'] as Record<string, unknown> | undefined;
  const value = options?.[name];
  return typeof value === 'string' && !value.startsWith('=') ? value.trim() : '';
}
