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
import type { AuditEvent } from '../../core/policy/audit';
import { PolicyError } from '../../core/policy/errors';
import { ConcurrencyGate } from '../../core/policy/limits';
import { RateLimiter } from '../../core/policy/rate';
import { parseConsumers } from '../../core/server/consumers';
import { serveMetadata } from '../../core/server/serveMetadata';
import { refusalAnswer } from '../../core/server/outbound';
import { serve } from '../../core/server/serve';
import { packVersion } from '../../core/version';
import { credentialVerdict } from '../shared/credentialVerdict';
import { deliver, deliverFailure, outletOf, reportArrival, surfaceKeyOf } from './auditDelivery';
import { applicationIdOf, recordingOf, servedSurface } from './configuration';
import { connectedTools } from './connectedTools';
import { hostingOf } from './hosting';
import { inboundOf, send } from './http';
import { checkIdentity, describeIssuer, identify, issuerOf, usesIssuer } from './identity';
import { triggerProperties } from './properties';
import { metadataAddress, publicAddress } from './publicAddress';
import { metadataFields, webhookFields } from './webhookFields';

/** Limits count per process: every replica has its own gate. */
const gate = new ConcurrencyGate();
const rates = new RateLimiter();

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
    credentials: [
      {
        name: 'mcpConsumersApi',
        required: true,
        testedBy: 'testConsumers',
        displayOptions: { show: { authentication: ['consumers'] } },
      },
      {
        name: 'mcpJwtIssuerApi',
        required: true,
        testedBy: 'testIssuer',
        displayOptions: { show: { authentication: ['jwt'] } },
      },
    ],
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
      {
        // Of the two names that n8n knows, the one for what clients ask before they call.
        name: 'setup',
        responseMode: 'onReceived',
        isFullPath: true,
        nodeType: 'mcp',
        ndvHideUrl: true,
        httpMethod: 'GET',
        ...metadataFields(),
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
        return await credentialVerdict(() => {
          const names = parseConsumers(credential.data).map(({ id }) => id);
          return `Usable. Consumers: ${names.join(', ')}`;
        }, 'Cannot be read.');
      },
      /** Fetches the keys where they are at an address. */
      async testIssuer(
        this: ICredentialTestFunctions,
        credential: ICredentialsDecrypted,
      ): Promise<INodeCredentialTestResult> {
        return await credentialVerdict(async () => await describeIssuer(credential.data), 'Cannot be read.');
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
          await checkIdentity(this);
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
    /** What there is to check is checked for the endpoint itself. */
    setup: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return await Promise.resolve(false);
      },
      async create(this: IHookFunctions): Promise<boolean> {
        return await Promise.resolve(true);
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        return await Promise.resolve(true);
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    try {
      return await (this.getWebhookName() === 'setup' ? answerMetadata(this) : answer(this));
    } catch (error) {
      // n8n would answer an exception with its own error, stack included where it runs for development.
      const refusal = refusalAnswer(INTERNAL, null);
      send(this.getResponseObject(), refusal);
      return deliverFailure(this, refusal, error);
    }
  }

  /**
   * Runs in the execution that a recorded event starts. The event goes out of the main output; where nothing is wired
   * to it, a failed call shows as a failed execution.
   */
  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData();
    const event = items[0]?.json as Partial<AuditEvent> & IDataObject;
    reportArrival(surfaceKeyOf(this), event);
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
  const surfaceKey = surfaceKeyOf(context);
  const tools = connectedTools(context);
  const served = await serve(inboundOf(context.getRequestObject(), response), {
    applicationId: applicationIdOf(context),
    identify: async (authorization, now) => await identify(context, authorization, now),
    metadataAddress: () => (usesIssuer(context) ? metadataAddress(context) : undefined),
    surface: () => servedSurface(context, tools),
    ...hostingOf(context),
    gate,
    gateKey: surfaceKey,
    rates,
    takeUndelivered: () => outletOf(surfaceKey).takeUndelivered(Date.now()),
    serverVersion: packVersion,
    now: Date.now,
  });
  send(response, served.answer);
  // Nobody waits for it: the answer is out, and what cannot be closed is not the caller's matter.
  void tools.close();
  return deliver(context, served, recordingOf(context));
}

/** The address of the endpoint's metadata is asked without a bearer: it says where to get one. */
async function answerMetadata(context: IWebhookFunctions): Promise<IWebhookResponseData> {
  const response = context.getResponseObject();
  const surfaceKey = surfaceKeyOf(context);
  const served = await serveMetadata(inboundOf(context.getRequestObject(), response), {
    applicationId: applicationIdOf(context),
    ...hostingOf(context),
    resource: () => publicAddress(context),
    issuer: async () => (usesIssuer(context) ? await issuerOf(context) : undefined),
    surface: () => servedSurface(context, connectedTools(context)),
    takeUndelivered: () => outletOf(surfaceKey).takeUndelivered(Date.now()),
    now: Date.now,
  });
  send(response, served.answer);
  return deliver(context, served, recordingOf(context));
}
