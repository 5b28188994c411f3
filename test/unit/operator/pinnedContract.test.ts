import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadOperator } from '../../../cli/operator/load';
import { stringify } from 'yaml';

const SHIPPED = path.resolve(__dirname, '../../../workflows');
const APPLICATION = 'web-app-prometheus';

describe('a contract that was changed under its pin', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-pinned-'));
    cpSync(SHIPPED, path.join(folder, 'workflows'), { recursive: true });
    const operator = {
      n8n: { address: 'https://n8n.example.com', api_key: 'env:N8N_API_KEY' },
      owner: 'acme-mcp',
      workflows: 'workflows',
      consumers: [{ id: 'client-claude', token: 'env:CLAUDE_TOKEN' }],
      surfaces: [
        {
          application_id: APPLICATION,
          enabled: true,
          consumers: ['client-claude'],
          upstream: { base_url: 'https://prometheus.example.com', authentication: 'none' },
        },
      ],
    };
    writeFileSync(path.join(folder, 'mcp-curated.yml'), stringify(operator));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const edit = (from: RegExp, to: string) => {
    const file = path.join(folder, 'workflows', APPLICATION, 'contract.yml');
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(from);
    writeFileSync(file, text.replace(from, to));
  };
  const load = async () => await loadOperator(path.join(folder, 'mcp-curated.yml'));

  test('is fine while it is as it was reviewed', async () => {
    await expect(load()).resolves.toMatchObject({
      surfaces: [{ contract: { application_id: APPLICATION } }],
    });
  });

  test.each([
    ['what a model sees', /title: (.+)/, 'title: Something else', 'tools.schema_sha256'],
    ['how upstream is called', /text_characters: 2000/, 'text_characters: 700', 'specification_sha256'],
  ])('is refused before n8n is asked for anything: %s', async (_what, from, to, field) => {
    edit(from, to);
    await expect(load()).rejects.toMatchObject({
      code: 'contract_invalid',
      message: expect.stringContaining(field) as string,
    });
  });
});
