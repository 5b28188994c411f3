import type { Adapter } from './schema';

/** How n8n shows a kind of upstream: the node type of its tools, as installed, and the type of their credential. */
export const UPSTREAM_FACES = {
  web: { node: 'n8n-nodes-mcp-curated.mcpReadTool', credential: 'mcpUpstreamApi' },
  s3: { node: 'n8n-nodes-mcp-curated.mcpS3ReadTool', credential: 'mcpS3Api' },
  database: { node: 'n8n-nodes-mcp-curated.mcpNamedQueryTool', credential: 'mcpDatabaseApi' },
} as const;

export type UpstreamFace = (typeof UPSTREAM_FACES)[keyof typeof UPSTREAM_FACES];

/** What the tools of an adapter are in n8n. */
export function upstreamFaceOf({ type }: Pick<Adapter, 'type'>): UpstreamFace {
  if (type === 's3_prefix') return UPSTREAM_FACES.s3;
  return type === 'named_query' ? UPSTREAM_FACES.database : UPSTREAM_FACES.web;
}

/** The credential type of a tool node of ours; `undefined` for every other node. */
export function credentialTypeOf(nodeType: string): UpstreamFace['credential'] | undefined {
  return Object.values(UPSTREAM_FACES).find(({ node }) => node === nodeType)?.credential;
}
