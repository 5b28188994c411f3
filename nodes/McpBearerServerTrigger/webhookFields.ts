import * as host from 'n8n-workflow';

/** What n8n-workflow 2.x adds for webhook descriptions that need no expression engine. */
interface NativeFields {
  fromParameter?: (path: string) => unknown;
  webhookDescriptionFields?: (fields: Record<string, unknown>) => { path: string };
}

/**
 * The path of the webhook. Newer hosts read the parameter directly; with an expression they would acquire an isolate
 * for every request. Older hosts get the expression.
 */
export function webhookFields(): { path: string } {
  const { fromParameter, webhookDescriptionFields } = host as NativeFields;
  if (typeof fromParameter === 'function' && typeof webhookDescriptionFields === 'function') {
    return webhookDescriptionFields({ path: fromParameter('path') });
  }
  return { path: '={{$parameter["path"]}}' };
}
