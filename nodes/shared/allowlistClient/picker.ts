import {
  NodeOperationError,
  type ICredentialsDecrypted,
  type ICredentialTestFunctions,
  type ILoadOptionsFunctions,
  type INodeCredentialTestResult,
  type INodeListSearchResult,
  type INodePropertyOptions,
} from 'n8n-workflow';
import { serverAccess, type ServerCredential } from '../../../core/client/access';
import { pinText } from '../../../core/client/allowlist';
import { effectOf } from '../../../core/client/effect';
import { identityText } from '../../../core/client/identity';
import type { ListedTool, Listing } from '../../../core/client/listing';
import { unsupportedSchema } from '../../../core/client/modelSchema';
import { toPolicyError } from '../../../core/policy/errors';
import { foreignText } from '../../../core/policy/redaction';
import { accessOf, newServer } from './host';
import { htmlText } from './htmlText';

/** For a person who waits in front of the editor. */
const PICKER_SETTINGS = {
  timeoutSeconds: 20,
  responseBytes: 16_777_216,
  listAgeSeconds: 0,
  compareEveryCall: false,
};

const DESCRIPTION_CHARACTERS = 300;

/** The tools that the server lists now. What is stored is the tool as it is shown: its name and its pin. */
export async function getTools(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { tools } = await listed(this);
  return tools.map(toolOption);
}

/** The same for a resource locator, with a filter. It shows names and nothing else, so there the pin is in the name. */
export async function searchTools(this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
  const { tools } = await listed(this);
  const wanted = filter.toLowerCase();
  const matches = tools.filter(({ descriptor: { name, title = '' } }) =>
    `${name}\n${title}`.toLowerCase().includes(wanted),
  );
  return {
    results: matches.map((tool) => {
      const { value, description = '' } = toolOption(tool);
      return { name: shownName(tool, ` (${shortPin(tool.pin)})`), value, description };
    }),
  };
}

/** The one server that the credential leads to, as it names itself now. */
export async function getServers(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { identity, tools } = await listed(this);
  const name = foreignText(identity.name, 120) || 'Server without a name';
  return [
    {
      name: `${name} at ${identity.origin}`,
      value: identityText(identity),
      description: `It lists ${countOf(tools)}`,
    },
  ];
}

/** The pin of everything that is listed now. */
export async function getCatalogue(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { tools, cataloguePin } = await listed(this);
  return [
    { name: 'Not Pinned', value: '', description: 'Tools that the server adds later are no concern' },
    {
      name: `${String(tools.length)} Tools as Listed Now, ${shortPin(cataloguePin)}`,
      value: cataloguePin,
      description: 'Any added, removed or changed tool blocks all of them',
    },
  ];
}

/** A real handshake, and what was found. Runs when a credential is saved in the editor. */
export async function testServer(
  this: ICredentialTestFunctions,
  credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
  let server: ReturnType<typeof newServer> | undefined;
  try {
    server = newServer(
      serverAccess(credential.data as unknown as ServerCredential),
      PICKER_SETTINGS,
      undefined,
    );
    const { signal } = new AbortController();
    const { identity, protocolVersion, transport } = await server.describe(signal);
    const { tools } = await server.listing(signal);
    const name = foreignText(identity.name, 80) || 'a server without a name';
    const over = transport === 'sse' ? 'SSE' : 'Streamable HTTP';
    return {
      status: 'OK',
      message: `Connected to ${name} over ${over}, protocol ${foreignText(protocolVersion, 20)}: ${countOf(tools)}`,
    };
  } catch (thrown) {
    const { code, message } = toPolicyError(thrown, 'internal_error', 'The test failed inside.');
    return { status: 'Error', message: `${code}: ${message}` };
  } finally {
    await server?.close();
  }
}

async function listed(context: ILoadOptionsFunctions): Promise<Listing> {
  let server: ReturnType<typeof newServer> | undefined;
  try {
    server = newServer(await accessOf(context), PICKER_SETTINGS, context.logger);
    return await server.listing(new AbortController().signal);
  } catch (thrown) {
    const { code, message } = toPolicyError(thrown, 'internal_error', 'The list could not be read.');
    throw new NodeOperationError(context.getNode(), `${code}: ${message}`);
  } finally {
    await server?.close();
  }
}

function toolOption(tool: ListedTool): INodePropertyOptions {
  const { descriptor, pin } = tool;
  const { name, description = '' } = descriptor;
  // The server's own words last: n8n 2.x shows two lines, and they must not push out what is ours.
  const parts = [
    shortPin(pin),
    effectOf(descriptor),
    unsupportedSchema(descriptor) ?? '',
    foreignText(description, DESCRIPTION_CHARACTERS),
  ];
  return {
    name: shownName(tool),
    value: pinText({ name, pin }),
    description: htmlText(parts.filter((part) => part !== '').join('. ')),
  };
}

function shownName({ descriptor: { name, title } }: ListedTool, afterName = ''): string {
  const titled = title === undefined || title === name ? '' : `: ${foreignText(title, 80)}`;
  return `${foreignText(name, 80)}${afterName}${titled}`;
}

function countOf({ length }: readonly unknown[]): string {
  return `${String(length)} ${length === 1 ? 'tool' : 'tools'}`;
}

/** Enough of a hash to compare with what is printed elsewhere. */
function shortPin(pin: string): string {
  return `Pin ${pin.slice('sha256:'.length, 'sha256:'.length + 12)}`;
}
