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
import { callSqlOperation } from '../../core/upstream/sql';
import { databaseAccess, type DatabaseCredential } from '../../core/upstream/sqlAccess';
import { SqlPools } from '../../core/upstream/sqlPools';
import { checkDatabase } from '../../core/upstream/sqlCheck';
import {
  executeReadTool,
  readToolDescription,
  readToolProperties,
  supplyReadTool,
  type ReadToolKind,
} from '../shared/readTool';
import { credentialVerdict } from '../shared/credentialVerdict';
import { EXAMPLE, NOTICE } from './properties';

const pools = new SqlPools();

const database: ReadToolKind = {
  credential: 'mcpDatabaseApi',
  ask: async (prepared, args, credential, context) =>
    await callSqlOperation(prepared, args, databaseAccess(credential as DatabaseCredential), context, pools),
};

export class McpNamedQueryTool implements INodeType {
  description: INodeTypeDescription = {
    ...readToolDescription,
    displayName: 'MCP Named Query Tool',
    name: 'mcpNamedQueryTool',
    icon: { light: 'file:../../icons/mcp-curated.svg', dark: 'file:../../icons/mcp-curated.dark.svg' },
    subtitle: 'One reviewed SELECT',
    description: 'One reviewed SELECT with typed parameters as a tool for agents and MCP clients',
    defaults: { name: 'MCP Named Query Tool' },
    inputs: [],
    outputs: [NodeConnectionTypes.AiTool],
    outputNames: ['Tool'],
    credentials: [{ name: 'mcpDatabaseApi', required: true, testedBy: 'testDatabase' }],
    properties: readToolProperties(NOTICE, EXAMPLE),
  };

  methods = {
    credentialTest: {
      /** Connects, and looks whether the user can only read. */
      async testDatabase(
        this: ICredentialTestFunctions,
        { data }: ICredentialsDecrypted,
      ): Promise<INodeCredentialTestResult> {
        return await credentialVerdict(
          async () =>
            await checkDatabase(databaseAccess((data ?? {}) as unknown as DatabaseCredential), pools),
        );
      },
    },
  };

  async supplyData(this: ISupplyDataFunctions): Promise<SupplyData> {
    return await Promise.resolve(supplyReadTool(this, database));
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    return await executeReadTool(this, database);
  }
}
