import * as host from 'n8n-workflow';

type Parameters = Readonly<Record<string, unknown>>;

/** What n8n-workflow 2.x adds for webhook descriptions that need no expression engine. */
interface NativeFields {
  fromParameter?: (path: string) => unknown;
  fromFunction?: (value: (parameters: Parameters) => unknown) => unknown;
  webhookDescriptionFields?: (fields: Record<string, unknown>) => { path: string };
}

const { fromParameter, fromFunction, webhookDescriptionFields } = host as NativeFields;

/**
 * The path of the webhook. Newer hosts read the parameter directly; with an expression they would acquire an isolate
 * for every request. Older hosts get the expression.
 */
export function webhookFields(): { path: string } {
  if (typeof fromParameter === 'function' && typeof webhookDescriptionFields === 'function') {
    return webhookDescriptionFields({ path: fromParameter('path') });
  }
  return { path: '={{$parameter["path"]}}' };
}

/** The path of the protected-resource metadata, below that of the endpoint. */
export function metadataFields(): { path: string } {
  if (typeof fromFunction === 'function' && typeof webhookDescriptionFields === 'function') {
    // n8n may evaluate the source of this function elsewhere, so it refers to nothing outside of itself.
    const path = (parameters: Parameters) =>
      `${String(parameters['path'])}/.well-known/oauth-protected-resource`;
    return webhookDescriptionFields({ path: fromFunction(path) });
  }
  return { path: '={{$parameter["path"]}}/.well-known/oauth-protected-resource' };
}
