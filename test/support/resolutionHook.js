/**
 * An external hook (EXTERNAL_HOOK_FILES) that runs inside n8n once it has loaded its nodes, and writes down what a
 * module of the installed pack can require from there.
 */
const { writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');

const userFolder = process.env.N8N_USER_FOLDER;

/** Where a module of the pack would get `name` from, or the code of the error. */
function resolve(name) {
  const nodes = join(userFolder, '.n8n/nodes/node_modules/n8n-nodes-mcp-curated/dist/nodes');
  try {
    return createRequire(join(nodes, 'McpReadTool/McpReadTool.node.js')).resolve(name);
  } catch (error) {
    return error.code;
  }
}

async function ready() {
  const names = ['@langchain/core/tools', 'n8n-workflow'];
  const resolved = Object.fromEntries(names.map((name) => [name, resolve(name)]));
  const seen = { nodePath: (process.env.NODE_PATH ?? '').split(':'), resolved };
  writeFileSync(join(userFolder, 'resolution.json'), JSON.stringify(seen));
}

module.exports = { n8n: { ready: [ready] } };
