import {
  NodeConnectionTypes,
  NodeOperationError,
  type ICredentialsDecrypted,
  type ICredentialTestFunctions,
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type INodeCredentialTestResult,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
} from 'n8n-workflow';
import { auditLine, isRecorded, type AuditEvent } from '../../core/policy/audit';
import { PolicyError } from '../../core/policy/errors';
import { ConcurrencyGate } from '../../core/policy/limits';
import { parseConsumers } from '../../core/server/consumers';
import { refusalAnswer } from '../../core/server/outbound';
import { serve } from '../../core/server/serve';
import { packVersion } from '../../core/version';
import { applicationIdOf, consumersOf, recordingOf, servedSurface } from './configuration';
import { connectedTools } from './connectedTools';
import { hostingOf } from './hosting';
import { inboundOf, send } from './http';
import { triggerProperties } from './properties';
import { webhookFields } from './webhookFields';

/** Limits count per process: every replica has its own gate. */
const gate = new ConcurrencyGate();

export class McpBearerServerTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'MCP Bearer Server Trigger',
    name: 'mcpBearerServerTrigger',
    icon: { light: 'file:../../icons/mcp-curated.svg', dark: 'file:../../icons/mcp-curated.dark.svg' },
    group: ['trigger'],
    // n8n evaluates an expression on every request of a node at version 1.
    version: [2],
    defaultVersion: 2,
    subtitle: '={{ $parameter["path"] }}',
    description: 'Serves chosen tools over MCP to named consumers, each with a bearer of its own',
    activationMessage: 'Named consumers can now call the tools at the production URL.',
    defaults: { name: 'MCP Bearer Server Trigger' },
    triggerPanel: {
      header: 'Serve tools over MCP',
      executionsHelp: {
        inactive:
          'Activate the workflow to serve the production URL. Audit events show up in the executions list.',
        active:
          'The production URL is served. Audit events show up in the executions list as set by Record Executions.',
      },
      activationHint:
        'Once the tools and their credentials are in place, activate (n8n 2.x: publish) the workflow.',
    },
    // The tools that it serves are connected to it, as with n8n's own MCP Server Trigger.
    // eslint-disable-next-line @n8n/community-nodes/trigger-node-conventions
    inputs: [{ type: NodeConnectionTypes.AiTool, displayName: 'Tools' }],
    outputs: [NodeConnectionTypes.Main],
    outputNames: ['Audit'],
    credentials: [{ name: 'mcpConsumersApi', required: true, testedBy: 'testConsumers' }],
    properties: triggerProperties,
    webhooks: [
      {
        name: 'default',
        responseMode: 'onReceived',
        isFullPath: true,
        nodeType: 'mcp',
        ndvHideMethod: true,
        httpMethod: 'POST,GET,DELETE',
        ...webhookFields(),
      },
    ],
  };

  methods = {
    credentialTest: {
      /** Offline: what could be wrong with a list of consumers is in the list. */
      async testConsumers(
        this: ICredentialTestFunctions,
        credential: ICredentialsDecrypted,
      ): Promise<INodeCredentialTestResult> {
        try {
          const names = parseConsumers(credential.data).map(({ id }) => id);
          return await Promise.resolve({ status: 'OK', message: `Usable. Consumers: ${names.join(', ')}` });
        } catch (error) {
          return {
            status: 'Error',
            message: error instanceof PolicyError ? error.message : 'Cannot be read.',
          };
        }
      },
    },
  };

  webhookMethods = {
    default: {
      /** Nothing is registered elsewhere, so there is never something to find. */
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return await Promise.resolve(false);
      },
      /** Activation fails for a surface that could only refuse, with the reason. */
      async create(this: IHookFunctions): Promise<boolean> {
        try {
          await consumersOf(this);
          servedSurface(this, { find: () => Promise.resolve(undefined), all: () => Promise.resolve([]) });
          return true;
        } catch (error) {
          throw new NodeOperationError(
            this.getNode(),
            error instanceof PolicyError ? error.message : 'The surface could not be set up.',
          );
        }
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        return await Promise.resolve(true);
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    try {
      return await answer(this);
    } catch (error) {
      // n8n would answer an exception with its own error, stack included where it runs for development.
      send(this.getResponseObject(), refusalAnswer(INTERNAL, null));
      this.logger.warn(`mcp_cause ${kindOf(error)}`);
      return { noWebhookResponse: true };
    }
  }

  /**
   * Runs in the execution that a recorded event starts. The event goes out of the main output; where nothing is wired
   * to it, a failed call shows as a failed execution.
   */
  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData();
    const event = items[0]?.json as Partial<AuditEvent> & IDataObject;
    const wired = this.getChildNodes(this.getNode().name).length > 0;
    if (event.status === 'error' && !wired) {
      throw new NodeOperationError(
        this.getNode(),
        `${event.tool ?? 'The request'} failed: ${String(event.code)}`,
        {
          description: JSON.stringify(event),
        },
      );
    }
    return await Promise.resolve([items]);
  }
}

const INTERNAL = new PolicyError('internal_error', 'The request failed inside the server.');

async function answer(context: IWebhookFunctions): Promise<IWebhookResponseData> {
  const response = context.getResponseObject();
  const tools = connectedTools(context);
  const served = await serve(inboundOf(context.getRequestObject(), response), {
    applicationId: applicationIdOf(context),
    consumers: async () => await consumersOf(context),
    surface: () => servedSurface(context, tools),
    ...hostingOf(context),
    gate,
    gateKey: `${context.getWorkflow().id ?? ''}/${context.getNode().id}`,
    serverVersion: packVersion,
    now: Date.now,
  });
  send(response, served.answer);
  // Nobody waits for it: the answer is out, and what cannot be closed is not the caller's matter.
  void tools.close();
  const { audit, isCall, cause } = served;
  if (!audit) return { noWebhookResponse: true };
  context.logger.info(auditLine(audit));
  if (cause !== undefined) context.logger.warn(`mcp_cause ${audit.correlation_id} ${kindOf(cause)}`);
  return {
    noWebhookResponse: true,
    ...(isRecorded(audit, isCall, recordingOf(context)) ? { workflowData: [[{ json: { ...audit } }]] } : {}),
  };
}

/** What a cause may show in a log: its own sentence if it is ours, else only its kind. Foreign texts hold addresses. */
function kindOf(cause: unknown): string {
  if (cause instanceof PolicyError) return `${cause.code}: ${cause.message}`;
  if (!(cause instanceof Error)) return 'unknown';
  const { code } = cause as NodeJS.ErrnoException;
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : cause.name;
}
