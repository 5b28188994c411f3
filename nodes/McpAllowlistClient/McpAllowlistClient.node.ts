import {
  NodeConnectionTypes,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
} from 'n8n-workflow';
import type { Lease } from '../../core/client/sessions';
import { PolicyError } from '../../core/policy/errors';
import { accessOf, cancelSignal, lease, nodeError } from '../shared/allowlistClient/host';
import {
  getCatalogue,
  getServers,
  getTools,
  searchTools,
  testServer,
} from '../shared/allowlistClient/picker';
import { settingsOf } from '../shared/allowlistClient/settings';
import { operations } from './operations';
import { clientProperties } from './properties';

// n8n would call its tool variant mcpAllowlistClientTool, which is our own node for agents.
// eslint-disable-next-line @n8n/community-nodes/node-usable-as-tool
export class McpAllowlistClient implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'MCP Allowlist Client',
    name: 'mcpAllowlistClient',
    icon: { light: 'file:../../icons/mcp-curated.svg', dark: 'file:../../icons/mcp-curated.dark.svg' },
    group: ['transform'],
    version: [1],
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: 'Calls reviewed tools and reads allowed resources of a foreign MCP server',
    defaults: { name: 'MCP Allowlist Client' },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'mcpAllowlistClientApi', required: true, testedBy: 'testServer' }],
    properties: clientProperties,
  };

  methods = {
    loadOptions: { getCatalogue, getServers, getTools },
    listSearch: { searchTools },
    credentialTest: { testServer },
  };

  /** Items share one connection where they share the credential's data. */
  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const returned: INodeExecutionData[] = [];
    const leases: Lease[] = [];
    try {
      for (const itemIndex of this.getInputData().keys()) {
        try {
          const access = await accessOf(this, itemIndex);
          const held = lease(this, access, settingsOf(this.getNode()));
          leases.push(held);
          const target = { server: held.server, access };
          const items = await operationOf(this)(this, target, itemIndex, cancelSignal(this));
          // One by one: a list may be longer than a call can have arguments.
          for (const item of items) returned.push(item);
        } catch (error) {
          const failure = nodeError(this, error, itemIndex);
          if (!this.continueOnFail()) throw failure;
          returned.push({
            json: { error: failure.message },
            error: failure,
            pairedItem: { item: itemIndex },
          });
        }
      }
    } finally {
      await Promise.all(
        leases.map(async ({ release }) => {
          await release();
        }),
      );
    }
    return [returned];
  }
}

function operationOf(context: IExecuteFunctions): (typeof operations)[string] {
  const name = `${context.getNodeParameter('resource', 0)}.${context.getNodeParameter('operation', 0)}`;
  const operation = operations[name];
  if (!operation) throw new PolicyError('surface_unconfigured', `There is no operation ${name}.`);
  return operation;
}
