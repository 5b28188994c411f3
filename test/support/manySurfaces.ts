import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { expectedHashes } from '../../core/contract/lint';
import type { Contract } from '../../core/contract/schema';
import { makeBearer } from '../../core/server/bearer';

const ORIGINAL = path.resolve(__dirname, '../../workflows/web-app-n8n/contract.yml');

/**
 * Fills a folder with what an operator of many surfaces has: copies of one contract under other names, a bearer, an
 * upstream secret for each, and the operator file.
 *
 * @returns the operator file
 */
export function writeManySurfaces(
  folder: string,
  count: number,
  n8n: { readonly origin: string; readonly apiKey: string },
  owner = 'acme-mcp',
): string {
  const original = parse(readFileSync(ORIGINAL, 'utf8')) as Contract;
  const ids = Array.from({ length: count }, (_one, index) => `web-app-copy-${index + 1}`);
  const secret = (name: string, value: string) => {
    writeFileSync(path.join(folder, name), value, { mode: 0o600 });
    return `file:${name}`;
  };
  for (const id of ids) {
    const contract = { ...original, application_id: id, endpoint: { ...original.endpoint, path: id } };
    const { schema_sha256, specification_sha256 } = expectedHashes(contract);
    mkdirSync(path.join(folder, 'contracts', id), { recursive: true });
    writeFileSync(
      path.join(folder, 'contracts', id, 'contract.yml'),
      stringify({
        ...contract,
        adapter: { ...contract.adapter, specification_sha256 },
        tools: { ...contract.tools, schema_sha256 },
      }),
    );
  }
  const file = path.join(folder, 'mcp-curated.yml');
  writeFileSync(
    file,
    stringify({
      n8n: { address: n8n.origin, api_key: secret('api-key', n8n.apiKey) },
      owner,
      workflows: 'contracts',
      consumers: [{ id: 'client-claude', token: secret('client-claude', makeBearer().token) }],
      surfaces: ids.map((id) => ({
        application_id: id,
        enabled: true,
        consumers: ['client-claude'],
        upstream: {
          base_url: `https://${id}.example.com`,
          authentication: 'bearer',
          secret: secret(`${id}.upstream`, makeBearer().token),
        },
      })),
    }),
  );
  return file;
}
