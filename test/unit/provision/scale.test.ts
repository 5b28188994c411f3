import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { N8nApiDouble } from '../../support/n8nApiDouble';
import { writeManySurfaces } from '../../support/manySurfaces';
import { runCli } from '../../support/runCli';

describe.each(['1.100.1', '2.41.1'] as const)('on n8n %s', (release) => {
  test('a plan that finds nothing to do asks once for each page, however many surfaces there are', async () => {
    const n8n = await N8nApiDouble.start(release);
    const folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-scale-'));
    try {
      const requests: string[][] = [];
      for (const count of [2, 60]) {
        const file = writeManySurfaces(folder, count, n8n);
        expect(await runCli('apply', '--file', file)).toMatchObject({ code: 0 });
        n8n.requests.length = 0;
        const { code, stdout } = await runCli('plan', '--file', file);
        expect({ code, last: stdout.trim().split('\n').at(-1) }).toEqual({
          code: 0,
          last: `0 to create, 0 to update, 0 to take out of service, ${count} unchanged.`,
        });
        requests.push(n8n.requests.map((one) => `${one.method} ${one.path}`).sort());
      }
      expect(requests).toEqual(Array(2).fill(['GET /credentials', 'GET /workflows']));
    } finally {
      await n8n.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
