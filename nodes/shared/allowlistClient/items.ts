import type { IBinaryKeyData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import {
  attachmentsOf,
  blockForItem,
  resultText,
  type Attachment,
  type CallOutcome,
} from '../../../core/client/result';

/** A result as an item: blocks and structured content as they are, files as binary data. */
export async function itemOf(
  context: IExecuteFunctions,
  { content, structured }: CallOutcome,
  itemIndex: number,
): Promise<INodeExecutionData> {
  let files = 0;
  const blocks = content.map((block) => blockForItem(block, () => binaryName(files++)));
  return {
    json: {
      content: blocks,
      ...(structured === undefined ? {} : { structuredContent: structured }),
    },
    ...(await binaryOf(context, attachmentsOf(content))),
    pairedItem: { item: itemIndex },
  };
}

/** A result as an agent of n8n 2.x reads it: text, bounded; files are there for people and later nodes. */
export async function agentItemOf(
  context: IExecuteFunctions,
  outcome: CallOutcome,
  characters: number,
): Promise<INodeExecutionData> {
  const { structured, content } = outcome;
  const isPlain = structured !== null && typeof structured === 'object' && !Array.isArray(structured);
  const saysAll =
    isPlain &&
    resultText(outcome, characters) === resultText({ ...outcome, structured: undefined }, characters);
  const small = isPlain && JSON.stringify(structured).length <= characters;
  const json =
    small && saysAll && content.length === 1 ? structured : { response: resultText(outcome, characters) };
  return {
    json: json as INodeExecutionData['json'],
    ...(await binaryOf(context, attachmentsOf(content))),
    pairedItem: { item: 0 },
  };
}

export async function binaryOf(
  context: IExecuteFunctions,
  attachments: readonly Attachment[],
): Promise<{ binary?: IBinaryKeyData }> {
  if (attachments.length === 0) return {};
  const binary: IBinaryKeyData = {};
  for (const [index, { data, mimeType, fileName }] of attachments.entries()) {
    binary[binaryName(index)] = await context.helpers.prepareBinaryData(data, fileName, mimeType);
  }
  return { binary };
}

/** n8n's own name for the first file of an item. */
export function binaryName(index: number): string {
  return index === 0 ? 'data' : `data_${String(index)}`;
}
