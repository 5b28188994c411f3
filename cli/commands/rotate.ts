import type { Output } from '../output';
import { rotateConsumer } from '../provision/rotateConsumer';
import { rotateUpstream } from '../provision/rotateUpstream';
import { openInstance } from './provision';

export interface RotateFlags {
  readonly file: string;
  readonly consumer?: string;
  readonly upstream?: boolean;
}

/** `mcp-curated rotate`: replaces one secret, without a moment in which there is none. @returns exit code */
export async function rotateCommand(
  applicationId: string,
  { file, consumer, upstream }: RotateFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  if ((consumer === undefined) === (upstream !== true)) {
    throw new Error('Say what to rotate: --consumer <id> or --upstream.');
  }
  const { operator, api, address } = await openInstance(file, signal);
  const options = { address, signal, onProgress: output.progress };
  if (consumer === undefined) {
    await rotateUpstream(api, operator, applicationId, options);
    output.result({ application_id: applicationId, rotated: 'upstream' }, () => [
      `${applicationId}: the new secret is in use; revoke the old one in the application.`,
    ]);
    return 0;
  }
  const { surfaces } = await rotateConsumer(api, operator, applicationId, consumer, options);
  output.result({ application_id: applicationId, rotated: consumer, surfaces }, () => [
    `${consumer}: the new bearer works and the old one is dead at ${surfaces.join(', ')}.`,
  ]);
  return 0;
}
