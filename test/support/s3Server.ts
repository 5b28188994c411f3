import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';

import { freePort, keepNoLonger, removeOnExit, startServer, waitUntilReady } from '../hosts/process';

/** The one identity that the server knows. */
export const S3_IDENTITY = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

export interface RunningS3 {
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  readonly url: string;
  /** Stores one object as somebody else, who may write. */
  put(bucket: string, key: string, content: string | Uint8Array, type?: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a real S3 server with empty buckets in a fresh folder. It knows identities by their access key id, does not
 * compute signatures of version 4, and lets its identity do everything: what cannot be reached is the doing of the tools
 * alone. Signatures are held against the published example and a computation of our own. Its continuation tokens are made with DES, which Node.js has
 * in the legacy provider only.
 *
 * @throws HostError `start_failed`, `start_timeout`
 */
export async function startS3(...buckets: string[]): Promise<RunningS3> {
  const label = 's3rver';
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-s3-'));
  removeOnExit(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${String(port)}`;
  const logFile = join(folder, 's3.log');
  const args = [
    ...['--openssl-legacy-provider', require.resolve('s3rver/bin/s3rver.js')],
    ...['-d', join(folder, 'data'), '-a', '127.0.0.1', '-p', String(port)],
    ...buckets.flatMap((bucket) => ['--configure-bucket', bucket]),
  ];
  const env = { HOME: folder };
  const server = startServer({ label, command: process.execPath, args, cwd: folder, env, logFile });
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  const client = new AwsClient({ ...S3_IDENTITY, service: 's3', region: 'us-east-1', retries: 0 });
  try {
    await waitUntilReady(server, { label, logFile, limitMs: 60_000 }, async () =>
      (await client.fetch(`${url}/${buckets[0] ?? ''}?list-type=2`)).ok ? true : null,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    stop,
    put: async (bucket, key, content, type) => {
      const headers = type === undefined ? {} : { 'content-type': type };
      const at = `${url}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
      const response = await client.fetch(at, { method: 'PUT', headers, body: content });
      if (!response.ok) throw new Error(`The S3 server answers ${String(response.status)} to PUT ${key}.`);
    },
  };
}
