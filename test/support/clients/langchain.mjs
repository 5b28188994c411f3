// Runs with Node 24 in the folder of test/hosts/clients. Reads {url, bearer, calls} from stdin, writes JSON to stdout.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';

const { url, bearer, calls } = JSON.parse(await text(process.stdin));
const require = createRequire(join(process.cwd(), 'package.json'));
const { MultiServerMCPClient } = await import(pathToFileURL(require.resolve('@langchain/mcp-adapters')).href);

const client = new MultiServerMCPClient({
  throwOnLoadError: true,
  mcpServers: {
    trigger: {
      transport: 'http',
      url,
      headers: { Authorization: `Bearer ${bearer}` },
      reconnect: { enabled: false },
    },
  },
});
const said = { tools: [], calls: [], error: null };
try {
  const tools = await client.getTools();
  said.tools = tools.map(({ name }) => name);
  for (const { name, args } of calls) {
    const tool = tools.find((one) => one.name === name);
    said.calls.push(
      await (tool ? tool.invoke(args) : Promise.reject(new Error(`no tool ${name}`))).then(
        (result) => ({ result: JSON.stringify(result) }),
        (error) => ({ refusal: String(error.message) }),
      ),
    );
  }
} catch (error) {
  said.error = String(error.message);
} finally {
  await client.close().catch(() => undefined);
}
process.stdout.write(JSON.stringify(said));
