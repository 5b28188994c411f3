import type { INode, IWebhookFunctions } from 'n8n-workflow';
import { nameOf, type HostingRules } from '../../core/server/origin';
import { staticParameter } from '../shared/staticParameter';

/** What n8n's contexts have at run time beside their published interface (1.100.1 to 2.41.1); detected, not assumed. */
interface HostContext {
  readonly additionalData?: {
    readonly webhookBaseUrl?: string;
    readonly instanceBaseUrl?: string;
  };
}

/** Which pages may call the trigger, and under which names. */
export function hostingOf(context: IWebhookFunctions): HostingRules {
  const node = context.getNode();
  return {
    allowedOrigins: new Set(listed(node, 'allowedOrigins').filter(isOrigin)),
    allowedHosts: new Set(listed(node, 'allowedHosts').map(nameOf)),
    ownHosts: () => ownHosts(context as HostContext),
  };
}

function listed(node: INode, name: string): string[] {
  const options = (staticParameter(node, 'options') ?? {}) as Record<string, unknown>;
  const value = options[name];
  return typeof value === 'string'
    ? value
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '')
    : [];
}

/** Anything else, such as an asterisk or a word that says that nothing is allowed, is no origin of a page. */
function isOrigin(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/\s*]+$/i.test(text);
}

/** The address that n8n shows people, and the one that it is called at (`WEBHOOK_URL`). */
function ownHosts({ additionalData }: HostContext): string[] {
  return [additionalData?.webhookBaseUrl, additionalData?.instanceBaseUrl].flatMap((url) => {
    return url !== undefined && URL.canParse(url) ? [new URL(url).hostname.toLowerCase()] : [];
  });
}
