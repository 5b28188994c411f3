import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// Read by n8n-core when it is loaded: no settings file in the home of whoever runs the tests, no log on the console.
process.env['N8N_USER_FOLDER'] = mkdtempSync(path.join(tmpdir(), 'mcp-curated-node-'));
process.env['N8N_LOG_LEVEL'] = 'silent';
