import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { operatorJsonSchemaFile } from '../operator/schema';
import type { Output } from '../output';

const TEMPLATE = `# yaml-language-server: $schema=./mcp-curated.schema.json
# What mcp-curated manages in one n8n. Holds no secret: env:NAME and file:PATH say where they are.
n8n:
  address: https://n8n.example.com
  # Settings, n8n API in n8n. Scopes: workflow:create, list, read, update, activate, deactivate, delete; workflowTags:update;
  # tag:create, list, delete; credential:create, list, update, delete; securityAudit:generate where credential:list is not
  # offered.
  api_key: env:N8N_API_KEY

# Marks what is managed: names start with "<owner>:", workflows carry it as a tag. Nothing else is ever touched.
owner: mcp-curated

# Every client has a bearer of its own; mcp-curated token makes one. n8n gets its hash only.
consumers:
  - id: client-claude
    token: file:secrets/client-claude.token

# Overrides can take away and never add: fewer tools, lower limits, fewer consumers than the contract has.
surfaces:
  - application_id: web-app-n8n
    enabled: false
    consumers: [client-claude]
    upstream:
      base_url: https://n8n.example.com
      authentication: header
      name: X-N8N-API-KEY
      secret: env:N8N_READ_API_KEY
      test_path: /api/v1/workflows?limit=1

# Workflows that use a foreign MCP server under pins; mcp-curated pin prints server and tools.
clients: []
`;

const SCHEMA_FILE = 'mcp-curated.schema.json';

/**
 * `mcp-curated init`: writes an operator file to start from, and beside it the JSON Schema that editors complete it with.
 *
 * @returns exit code
 * @throws Error when the file is there already; it is left as it is then
 */
export async function initCommand(file: string, output: Output): Promise<number> {
  const schemaFile = path.join(path.dirname(file), SCHEMA_FILE);
  try {
    await writeFile(file, TEMPLATE, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'EEXIST'
        ? `${file} is there already and was left as it is.`
        : `${file} cannot be written (${code ?? 'unknown error'}).`,
      { cause: error },
    );
  }
  await writeFile(schemaFile, operatorJsonSchemaFile());
  const written = [file, schemaFile];
  output.result({ written }, () => written.map((one) => `written: ${one}`));
  return 0;
}
