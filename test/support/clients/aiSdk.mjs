// Runs with Node 24 in the folder of test/hosts/clients. Reads {url, bearer, calls} from stdin, writes JSON to stdout.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';

const { url, bearer, calls } = JSON.parse(await text(process.stdin));
const home = join(process.cwd(), 'node_modules', '@ai-sdk', 'mcp', 'dist', 'index.js');
const { createMCPClient } = await import(pathToFileURL(home).href);

const said = { tools: [], calls: [], error: null };
let client;
try {
  client = await createMCPClient({
    transport: { type: 'http', url, headers: { Authorization: `Bearer ${bearer}` } },
  });
  const tools = await client.tools();
  said.tools = Object.keys(tools);
  for (const { name, args } of calls) {
    const tool = tools[name];
    said.calls.push(
      await (
        tool
          ? tool.execute(args, { toolCallId: 'call-1', messages: [] })
          : Promise.reject(new Error(`no tool ${name}`))
      ).then(
        (result) =>
          result.isError ? { refusal: JSON.stringify(result) } : { result: JSON.stringify(result) },
        (error) => ({ refusal: String(error.message) }),
      ),
    );
  }
} catch (error) {
  said.error = String(error.message);
} finally {
  await client?.close().catch(() => undefined);
}
process.stdout.write(JSON.stringify(said));
