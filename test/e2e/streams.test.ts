import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { PNG } from '../support/conformanceTools';
import { eventually } from '../support/editWorkflow';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, resultOf } from '../support/mcpRequest';
import { openStream } from '../support/sseReader';
import { publishSuiteSurface, type SuiteSurface } from '../support/suiteSurface';
import { hang, json } from '../support/upstreamDouble';

const INFO = { name: 'e2e', version: '1.0.0' };

const legacyCall = (name: string, meta: object = {}, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
});

describe.each(hosts())('streamed answers and resources on n8n $version', (host) => {
  let surface: SuiteSurface;
  beforeAll(async () => {
    surface = await publishSuiteSurface(host, 'streams');
  });
  afterAll(async () => {
    await surface.remove();
  });
  const initOf = () => ({ requestInit: { headers: { Authorization: `Bearer ${surface.bearer}` } } });

  it('lets an event through while the tool is still at work, also for a client that takes compressed answers', async () => {
    const call = legacyCall('hangs', { progressToken: 'p' });
    const stream = await openStream(surface.url, surface.bearer, call, { 'accept-encoding': 'gzip, br' });
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    expect(stream.headers['content-encoding']).toBeUndefined();
    expect(await stream.next()).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1 },
    });
    // And whoever goes away then ends the call at the foreign server behind the surface.
    const before = surface.tools.cancelled();
    stream.abort();
    await eventually(() => {
      expect(surface.tools.cancelled()).toBeGreaterThan(before);
      return Promise.resolve();
    });
  });

  it('ends the request to the upstream when the caller goes away', async () => {
    surface.upstream.on('/template/slow', hang);
    const stream = await openStream(
      surface.url,
      surface.bearer,
      legacyCall('template_data', { progressToken: 1 }, { id: 'slow' }),
    );
    expect(await stream.next()).toMatchObject({ method: 'notifications/progress', params: { progress: 0 } });
    await eventually(() => {
      expect(surface.upstream.lastRequest.path).toBe('/template/slow');
      return Promise.resolve();
    });
    const { socketClosed } = surface.upstream.lastRequest;
    stream.abort();
    await socketClosed;
  });

  it('answers a client that takes only JSON with one JSON body', async () => {
    const answer = await callTool(
      surface,
      'test_tool_with_progress',
      {},
      { headers: [['Accept', 'application/json']] },
    );
    expect(answer.headers['content-type']).toBe('application/json');
    expect(resultOf(answer)?.content).toEqual([{ type: 'text', text: 'Done.' }]);
  });

  it('shows progress to SDK v1, to SDK v2, and to SDK v2 in the 2026 era', async () => {
    const v1 = new ClientV1(INFO);
    const v2 = new ClientV2(INFO, { versionNegotiation: { mode: 'legacy' } });
    const newest = new ClientV2(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await v1.connect(new TransportV1(new URL(surface.url), initOf()));
    await v2.connect(new TransportV2(new URL(surface.url), initOf()));
    await newest.connect(new TransportV2(new URL(surface.url), initOf()));
    const seen: Record<string, number[]> = { v1: [], v2: [], newest: [] };
    const asked = { name: 'test_tool_with_progress', arguments: {} };
    const told = (who: string) => ({
      onprogress: ({ progress }: { progress: number }) => {
        seen[who]?.push(progress);
      },
    });
    await v1.callTool(asked, undefined, told('v1'));
    await v2.callTool(asked, told('v2'));
    await newest.callTool(asked, told('newest'));
    expect(seen).toEqual({ v1: [0, 50, 100], v2: [0, 50, 100], newest: [0, 50, 100] });
    await Promise.all([v1.close(), v2.close(), newest.close()]);
  });

  it('hands on images, sound and embedded resources of a tool', async () => {
    const [image, mixed] = await Promise.all([
      callTool(surface, 'test_image_content'),
      callTool(surface, 'test_multiple_content_types'),
    ]);
    expect(resultOf(image)?.content).toEqual([{ type: 'image', data: PNG, mimeType: 'image/png' }]);
    expect(resultOf(mixed)?.content.map(({ type }) => type)).toEqual(['text', 'image', 'resource']);
  });

  describe.each(['legacy', { pin: '2026-07-28' }] as const)('SDK v2 in mode %j', (mode) => {
    let client: ClientV2;
    beforeAll(async () => {
      client = new ClientV2(INFO, { versionNegotiation: { mode } });
      await client.connect(new TransportV2(new URL(surface.url), initOf()));
    });
    afterAll(async () => {
      await client.close();
    });

    it('lists resources and templates, and reads text, bytes and JSON', async () => {
      const [{ resources }, { resourceTemplates }] = await Promise.all([
        client.listResources(),
        client.listResourceTemplates(),
      ]);
      expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
        ['test://static-text', 'text/plain'],
        ['test://static-binary', 'image/png'],
      ]);
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['test://template/{id}/data']);
      const read = async (uri: string) => (await client.readResource({ uri })).contents;
      expect(await read('test://static-text')).toMatchObject([{ mimeType: 'text/plain' }]);
      expect(await read('test://static-binary')).toEqual([
        { uri: 'test://static-binary', mimeType: 'image/png', blob: PNG },
      ]);
      const [record] = await read('test://template/123/data');
      expect(JSON.parse((record as { text: string }).text)).toEqual({ id: '123', data: 'Data for ID: 123' });
    });

    it('is told of a resource that is not there, and of one that upstream does not have', async () => {
      surface.upstream.on('/template/gone', json({}, 404));
      await expect(client.readResource({ uri: 'test://nowhere' })).rejects.toThrow(/no resource at that URI/);
      await expect(client.readResource({ uri: 'test://template/gone/data' })).rejects.toThrow(
        /Upstream has nothing/,
      );
    });
  });

  itKeepsTheLogClean(host, () => [surface.bearer]);
});
