import {
  NodeConnectionTypes,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type ISupplyDataFunctions,
  type SupplyData,
} from 'n8n-workflow';
import { upstreamAccess } from '../../core/upstream/access';
import { callOperation } from '../../core/upstream/call';
import { forConsumer, type ConsumersUpstreamCredential } from '../../core/upstream/consumerSecret';
import { createPorts } from '../../core/upstream/ports';
import {
  executeReadTool,
  readToolDescription,
  readToolProperties,
  supplyReadTool,
  type ReadToolKind,
} from '../shared/readTool';
import { EXAMPLE, NOTICE } from './properties';

const ports = createPorts();

const web: ReadToolKind = {
  credential: 'mcpUpstreamApi',
  ask: async (prepared, args, credential, context) => {
    const own = forConsumer(credential as ConsumersUpstreamCredential, context.consumer);
    return await callOperation(prepared, args, upstreamAccess(own), context, ports);
  },
};

export class McpReadTool implements INodeType {
  description: INodeTypeDescription = {
    ...readToolDescription,
    displayName: 'MCP Read Tool',
    name: 'mcpReadTool',
    icon: { light: 'file:../../icons/mcp-curated.svg', dark: 'file:../../icons/mcp-curated.dark.svg' },
    subtitle: 'One bounded read operation',
    description: 'One bounded read operation of one application as a tool for agents and MCP clients',
    defaults: { name: 'MCP Read Tool' },
    inputs: [],
    outputs: [NodeConnectionTypes.AiTool],
    outputNames: ['Tool'],
    credentials: [{ name: 'mcpUpstreamApi', required: true }],
    properties: readToolProperties(NOTICE, EXAMPLE),
  };

  async supplyData(this: ISupplyDataFunctions): Promise<SupplyData> {
    return await Promise.resolve(supplyReadTool(this, web));
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    return await executeReadTool(this, web);
  }
}
