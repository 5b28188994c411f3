import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ServerAccess } from '../../core/client/access';
import { pinText } from '../../core/client/allowlist';
import { readArguments } from '../../core/client/arguments';
import { effectOf } from '../../core/client/effect';
import { parseIdentity } from '../../core/client/identity';
import { secretsOf } from '../../core/client/oauth';
import { checkResourceUri } from '../../core/client/resourceUris';
import { attachmentOf, withoutSecrets } from '../../core/client/result';
import { review } from '../../core/client/review';
import type { ToolServer } from '../../core/client/toolServer';
import { toolFailure } from '../shared/allowlistClient/host';
import { binaryName, binaryOf, itemOf } from '../shared/allowlistClient/items';
import { allowlistOfOne, reviewedPins } from '../shared/allowlistClient/settings';
import { staticParameter, staticText } from '../shared/staticParameter';

/** The server, and the credential with which it is asked. */
export interface Target {
  readonly server: ToolServer;
  readonly access: ServerAccess;
}

/** One operation for one input item. */
export type Operation = (
  context: IExecuteFunctions,
  target: Target,
  itemIndex: number,
  signal: AbortSignal,
) => Promise<INodeExecutionData[]>;

export const operations: Readonly<Record<string, Operation>> = {
  'tool.call': callTool,
  'tool.list': listTools,
  'tool.review': reviewTools,
  'resource.read': readResource,
};

async function callTool(
  context: IExecuteFunctions,
  { server, access }: Target,
  itemIndex: number,
  signal: AbortSignal,
): Promise<INodeExecutionData[]> {
  const { allowlist, pinned } = allowlistOfOne(context.getNode());
  const args = readArguments(context.getNodeParameter('arguments', itemIndex, {}));
  const outcome = await server.call(allowlist, pinned.name, args, signal);
  if (outcome.isError) throw toolFailure(outcome, access);
  return [await itemOf(context, outcome, itemIndex)];
}

async function listTools(
  _context: IExecuteFunctions,
  { server, access }: Target,
  itemIndex: number,
  signal: AbortSignal,
): Promise<INodeExecutionData[]> {
  const { tools } = await server.listing(signal);
  const secrets = secretsOf(access);
  return tools.map(({ descriptor, pin }) => ({
    json: withoutSecrets(
      {
        name: descriptor.name,
        title: descriptor.title ?? null,
        description: descriptor.description ?? null,
        effect: effectOf(descriptor),
        pin,
        value: pinText({ name: descriptor.name, pin }),
      },
      secrets,
    ),
    pairedItem: { item: itemIndex },
  }));
}

async function reviewTools(
  context: IExecuteFunctions,
  { server, access }: Target,
  itemIndex: number,
  signal: AbortSignal,
): Promise<INodeExecutionData[]> {
  const { pins, reviewed } = reviewedPins(context.getNode());
  const listing = await server.listing(signal);
  const report = review(listing, pins, (pin) => reviewed.get(pin) ?? server.remembered(pin));
  return [{ json: { ...withoutSecrets(report, secretsOf(access)) }, pairedItem: { item: itemIndex } }];
}

async function readResource(
  context: IExecuteFunctions,
  { server }: Target,
  itemIndex: number,
  signal: AbortSignal,
): Promise<INodeExecutionData[]> {
  const node = context.getNode();
  const uri = context.getNodeParameter('uri', itemIndex, '') as string;
  checkResourceUri(staticParameter(node, 'allowedUris'), uri);
  const pinned = parseIdentity(staticText(node, 'server'));
  const { contents } = await server.readResource(pinned, uri, signal);
  let files = 0;
  const parts = contents.map((part) => {
    if (!('blob' in part)) return { ...part };
    const { blob: _blob, ...rest } = part;
    return { ...rest, binary: binaryName(files++) };
  });
  return [
    {
      json: { uri, contents: parts },
      ...(await binaryOf(context, contents.flatMap(attachmentOf))),
      pairedItem: { item: itemIndex },
    },
  ];
}
