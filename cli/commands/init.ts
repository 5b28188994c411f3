import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { operatorJsonSchemaFile } from '../operator/schema';
import type { Contract } from '../../core/contract/schema';
import { isSurface, readContracts } from '../contracts';
import { shippedWorkflows } from '../operator/load';
import type { Output } from '../output';

const template = (surfaces: string): string => `# yaml-language-server: $schema=./mcp-curated.schema.json
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
${surfaces}
# Workflows that use a foreign MCP server under pins; mcp-curated pin prints server and tools.
clients: []
`;

const SCHEMA_FILE = 'mcp-curated.schema.json';

/**
 * `mcp-curated init`: writes an operator file to start from, and beside it the JSON Schema that editors complete it with.
 *
 * @param applicationIds surfaces to begin with; that of n8n itself when empty
 * @returns exit code
 * @throws Error when the file is there already, which is left as it is then, or when an application has no surface
 */
export async function initCommand(
  file: string,
  applicationIds: readonly string[],
  output: Output,
): Promise<number> {
  const schemaFile = path.join(path.dirname(file), SCHEMA_FILE);
  const contracts = await chosenContracts(applicationIds.length === 0 ? ['web-app-n8n'] : applicationIds);
  try {
    await writeFile(file, template(contracts.map(surfaceBlock).join('')), { flag: 'wx' });
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

async function chosenContracts(ids: readonly string[]): Promise<Contract[]> {
  const files = await readContracts(shippedWorkflows(), ids);
  return files.map((file) => {
    if (isSurface(file) && file.result.contract.adapter.type !== 'n8n_workflow') return file.result.contract;
    throw new Error(`${file.applicationId} cannot be provisioned; its contract says why.`);
  });
}

/** One surface as the contract says that it is reached. */
function surfaceBlock({ application_id: id, adapter, name }: Contract): string {
  const { kind, name: field, secret, optional } = adapter.authentication;
  const variable = id.replace(/-/g, '_').toUpperCase();
  const lines = [
    `- application_id: ${id}`,
    '  enabled: false',
    '  consumers: [client-claude]',
    '  upstream:',
    `    # Address of ${name}.`,
    `    base_url: https://${id}.example.com`,
    `    authentication: ${kind}${optional && kind !== 'none' ? ' # or none, for what is public' : ''}`,
    ...(kind === 'basic' || kind === 'session' ? [`    # ${field ?? 'User'}`, '    name: mcp-reader'] : []),
    ...(kind === 'header' || kind === 'query' ? [`    name: ${field ?? ''}`] : []),
    ...(secret === null ? [] : [`    # ${secret}`, `    secret: env:${variable}_SECRET`]),
    ...settingLines(adapter.settings),
  ];
  return lines.map((line) => `  ${line}\n`).join('');
}

function settingLines(settings: Contract['adapter']['settings']): string[] {
  const entries = Object.entries(settings ?? {});
  if (entries.length === 0) return [];
  return [
    '    settings:',
    ...entries.flatMap(([setting, { description, example }]) => [
      `      # ${description.replace(/\s+/g, ' ').trim()}`,
      `      ${setting}: [${example
        .split(',')
        .map((value) => JSON.stringify(value.trim()))
        .join(', ')}]`,
    ]),
  ];
}
