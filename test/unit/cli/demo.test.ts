import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8nApiError } from '../../../cli/n8n/publicApi';
import { connectionHelp } from '../../../demo/consumers';
import { existingInstance, sentenceOf } from '../../../demo/instance';
import { json, UpstreamDouble } from '../../support/upstreamDouble';

describe('the n8n that the demo is pointed at', () => {
  test('is used without a final slash or /api/v1', () => {
    expect(existingInstance('https://n8n.example.com/api/v1/', 'key')).toMatchObject({
      url: 'https://n8n.example.com',
      disposable: false,
    });
  });

  test.each(['n8n.example.com', 'localhost:5678', 'file:///etc/passwd'])(
    'must be an address: %s',
    (given) => {
      expect(() => existingInstance(given, 'key')).toThrow(
        '--n8n must be an http or https address such as https://n8n.example.com.',
      );
    },
  );

  test('needs an API key', () => {
    expect(() => existingInstance('https://n8n.example.com', '')).toThrow('Set N8N_API_KEY');
  });

  test('says where to look when it refuses the key, and only then', () => {
    expect(sentenceOf(new N8nApiError(401, 'n8n answered with 401'))).toBe(
      'n8n answered with 401; check N8N_API_KEY',
    );
    expect(sentenceOf(new N8nApiError(403, 'n8n answered with 403'))).toBe('n8n answered with 403');
  });
});

describe('how to connect a client', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]'])('names the way out of a container for %s', (host) => {
    expect(connectionHelp(`http://${host}:5678/mcp/x`, [])).toContain(
      `write host.docker.internal instead of ${host}`,
    );
  });

  test('has no word about containers for an address that they reach', () => {
    expect(connectionHelp('https://n8n.example.com/mcp/x', [])).not.toContain('docker');
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s leaves nothing behind in the n8n', async (signal) => {
  const n8n = await UpstreamDouble.start();
  const workflow = json({ id: 'w1', name: 'x', active: false, nodes: [], connections: {}, settings: {} });
  const credential = (id: string, type: string) => json({ id, name: id, type });
  n8n.on('/api/v1/workflows', json({ data: [] }), workflow);
  n8n.on('/api/v1/credentials', credential('c1', 'mcpConsumersApi'), credential('c2', 'mcpUpstreamApi'));
  n8n.on('/mcp/web-app-n8n', json({}, 404));
  n8n.on('*', workflow);
  try {
    const demo = spawn(process.execPath, ['--import', 'tsx', 'demo/main.ts', '--n8n', n8n.origin], {
      cwd: path.resolve(__dirname, '../../..'),
      env: { ...process.env, N8N_API_KEY: 'key' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    demo.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const ended = once(demo, 'close');
    while (!n8n.requests.some((request) => request.path.endsWith('/activate'))) {
      if (demo.exitCode !== null) throw new Error(`The demo ended by itself: ${said}`);
      await sleep(20);
    }
    demo.kill(signal);
    demo.kill(signal);
    expect(await ended).toEqual([130, null]);
    expect(said).toMatch(/\[demo\] removed\n$/);
    const removed = n8n.requests.filter(({ method }) => method === 'DELETE').map((request) => request.path);
    expect(removed).toEqual(['/api/v1/workflows/w1', '/api/v1/credentials/c2', '/api/v1/credentials/c1']);
  } finally {
    await n8n.stop();
  }
});
