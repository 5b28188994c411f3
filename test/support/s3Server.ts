import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import S3rver from 's3rver';

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
 * Starts a real S3 server with empty buckets in a fresh folder. It checks signatures, and lets its identity do everything:
 * what cannot be reached is the doing of the tools alone.
 */
export async function startS3(...buckets: string[]): Promise<RunningS3> {
  const directory = mkdtempSync(join(tmpdir(), 'mcp-curated-s3-'));
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory },
    configureBuckets: buckets.map((name) => ({ name, configs: [] })),
  });
  const { port } = await server.run();
  const url = `http://127.0.0.1:${String(port)}`;
  const client = new AwsClient({ ...S3_IDENTITY, service: 's3', region: 'us-east-1' });
  return {
    url,
    put: async (bucket, key, content, type) => {
      const headers = type === undefined ? {} : { 'content-type': type };
      const at = `${url}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
      const response = await client.fetch(at, { method: 'PUT', headers, body: content });
      if (!response.ok) throw new Error(`The S3 server answers ${String(response.status)} to PUT ${key}.`);
    },
    stop: async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
