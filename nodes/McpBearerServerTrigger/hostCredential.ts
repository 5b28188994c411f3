import type {
  ICredentialDataDecryptedObject,
  IExecuteData,
  IHookFunctions,
  IWebhookFunctions,
} from 'n8n-workflow';

/** What n8n's contexts have at run time beside their published interface (1.100.1 to 2.41.1); detected, not assumed. */
interface HostContext {
  _getCredentials?: (
    this: object,
    type: string,
    executeData: IExecuteData,
    connectionInputData: readonly never[],
    itemIndex: number,
  ) => Promise<ICredentialDataDecryptedObject>;
}

/**
 * The decrypted credential of the node that a request is for.
 *
 * n8n resolves expressions in a credential. Outside of a run it makes a workflow of its own for that, and on 2.x an
 * isolate, which with default settings takes longer than all the rest of a request. Asked as in a run it uses what the
 * request already has. The run is an empty one, so that nothing of the request can get into a credential.
 *
 * @throws what n8n throws when the node has no such credential
 */
export async function hostCredential(
  context: IWebhookFunctions | IHookFunctions,
  type: string,
): Promise<ICredentialDataDecryptedObject> {
  const { _getCredentials: inRun } = context as HostContext;
  if (typeof inRun !== 'function') return await context.getCredentials(type);
  const scoped = Object.create(context, {
    runExecutionData: { value: { resultData: { runData: {} } } },
    runIndex: { value: 0 },
  }) as object;
  return await inRun.call(scoped, type, { data: {}, node: context.getNode(), source: null }, [], 0);
}
