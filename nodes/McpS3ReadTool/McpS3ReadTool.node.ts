import {
  NodeConnectionTypes,
  type ICredentialsDecrypted,
  type ICredentialTestFunctions,
  type IExecuteFunctions,
  type INodeCredentialTestResult,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type ISupplyDataFunctions,
  type SupplyData,
} from 'n8n-workflow';
import { createPorts } from '../../core/upstream/ports';
import { callS3Operation } from '../../core/upstream/s3';
import { s3Access, type S3Credential } from '../../core/upstream/s3Access';
import { checkS3 } from '../../core/upstream/s3Check';
import {
  executeReadTool,
  readToolDescription,
  readToolProperties,
  supplyReadTool,
  type ReadToolKind,
} from '../shared/readTool';
import { credentialVerdict } from '../shared/credentialVerdict';
import { EXAMPLE, NOTICE } from './properties';

const ports = createPorts();

const s3: ReadToolKind = {
  credential: 'mcpS3Api',
  ask: async (prepared, args, credential, context) =>
    await callS3Operation(prepared, args, s3Access(credential as S3Credential), context, ports),
};

export class McpS3ReadTool implements INodeType {
  description: INodeTypeDescription = {
    ...readToolDescription,
    displayName: 'MCP S3 Read Tool',
    name: 'mcpS3ReadTool',
    icon: { light: 'file:../../icons/mcp-curated.svg', dark: 'file:../../icons/mcp-curated.dark.svg' },
    subtitle: 'One bounded read of declared prefixes',
    description: 'Lists or reads objects below declared prefixes of an S3 store, for agents and MCP clients',
    defaults: { name: 'MCP S3 Read Tool' },
    inputs: [],
    outputs: [NodeConnectionTypes.AiTool],
    outputNames: ['Tool'],
    credentials: [{ name: 'mcpS3Api', required: true, testedBy: 'testS3' }],
    properties: readToolProperties(NOTICE, EXAMPLE),
  };

  methods = {
    credentialTest: {
      /** Lists every declared location. */
      async testS3(
        this: ICredentialTestFunctions,
        { data }: ICredentialsDecrypted,
      ): Promise<INodeCredentialTestResult> {
        return await credentialVerdict(
          async () => await checkS3(s3Access((data ?? {}) as unknown as S3Credential), ports),
        );
      },
    },
  };

  async supplyData(this: ISupplyDataFunctions): Promise<SupplyData> {
    return await Promise.resolve(supplyReadTool(this, s3));
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    return await executeReadTool(this, s3);
  }
}
