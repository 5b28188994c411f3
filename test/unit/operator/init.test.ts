import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv/dist/2020';
import { parse } from 'yaml';
import { loadOperator, parseOperator } from '../../../cli/operator/load';
import { operatorJsonSchema } from '../../../cli/operator/schema';
import { runCli } from '../../support/runCli';

describe('mcp-curated init', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-init-'));
  const file = path.join(folder, 'mcp-curated.yml');
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test('writes a file that can be planned as soon as its secrets are there', async () => {
    const schemaFile = path.join(folder, 'mcp-curated.schema.json');
    expect(await runCli('init', '--file', file)).toMatchObject({
      code: 0,
      stdout: `written: ${file}\nwritten: ${schemaFile}\n`,
    });
    expect(JSON.parse(readFileSync(schemaFile, 'utf8'))).toEqual(operatorJsonSchema());
    const { surfaces } = await loadOperator(file);
    expect(surfaces.map(({ surface }) => [surface.application_id, surface.enabled])).toEqual([
      ['web-app-n8n', false],
    ]);
    await expect(runCli('plan', '--file', file)).rejects.toMatchObject({ code: 'secret_unreadable' });
  });

  test('says in comments what each part is for, and names the schema for editors', () => {
    const text = readFileSync(file, 'utf8');
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./mcp-curated.schema.json');
    for (const key of ['n8n:', 'owner:', 'consumers:', 'surfaces:', 'clients:']) {
      const lines = text.split('\n');
      const at = lines.findIndex((line) => line.startsWith(key));
      expect({ key, comment: lines[at - 1] }).toEqual({
        key,
        comment: expect.stringMatching(/^# /) as string,
      });
    }
  });

  test('leaves a file that is there as it is', async () => {
    const before = readFileSync(file, 'utf8');
    await expect(runCli('init', '--file', file)).rejects.toThrow('is there already');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('and the JSON Schema for editors agree about what is right and what is wrong', async () => {
    const schema = JSON.parse((await runCli('schema', '--operator')).stdout || '{}') as object;
    expect(schema).toEqual(JSON.parse(JSON.stringify(operatorJsonSchema())));
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    const data = parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    expect(validate(data)).toBe(true);
    for (const wrong of [
      { include_all: true },
      { owner: 'Not An Owner' },
      { n8n: { address: 'https://a.example' } },
    ]) {
      const changed = { ...data, ...wrong };
      expect(validate(changed)).toBe(false);
      expect(() => parseOperator(JSON.stringify(changed), 'x')).toThrow(
        expect.objectContaining({ code: 'operator_file_invalid' }) as Error,
      );
    }
  });
});
