/** Set by the build; absent when TypeScript is run from source. */
declare const PACK_VERSION: string | undefined;

export const packVersion = typeof PACK_VERSION === 'string' ? PACK_VERSION : '0.0.0-source';

export const packName = 'n8n-nodes-mcp-curated';
