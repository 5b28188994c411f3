import { claude } from './claude';
import type { ClientFormat } from './connection';
import { cursor } from './cursor';
import { flowise } from './flowise';
import { hermes } from './hermes';
import { n8n } from './n8n';
import { openClaw } from './openClaw';
import { openWebUi } from './openWebUi';
import { plainJson } from './plainJson';

/** Every kind of client that can be configured, by the name that `--format` takes. */
export const CLIENT_FORMATS = {
  'open-webui': openWebUi,
  flowise,
  claude,
  cursor,
  openclaw: openClaw,
  hermes,
  n8n,
  json: plainJson,
} as const satisfies Record<string, ClientFormat>;

export type FormatName = keyof typeof CLIENT_FORMATS;
