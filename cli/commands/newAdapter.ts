import { access, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { APPLICATION_ID_PATTERN } from '../../core/contract/vocabulary';
import { contractDraft, parseOperationLine, type Draft } from '../contractDraft';
import type { Output } from '../output';

/**
 * `mcp-curated new-adapter`: writes a contract to start from. Whatever a person has to decide says TODO, which lint refuses,
 * so that nothing is served that nobody has thought about.
 *
 * @param lines operations such as `shop_list_orders=GET /api/orders?limit&page&status`
 * @returns exit code
 * @throws Error when the application has a folder already, or a line cannot be read; nothing is written then
 */
export async function newAdapterCommand(
  folder: string,
  applicationId: string,
  draft: Omit<Draft, 'applicationId' | 'operations'>,
  lines: readonly string[],
  output: Output,
): Promise<number> {
  if (!APPLICATION_ID_PATTERN.test(applicationId)) {
    throw new Error(`${applicationId} is no application id such as web-app-shop.`);
  }
  if (lines.length === 0) {
    throw new Error(
      'Name at least one operation: --operation "shop_list_orders=GET /api/orders?limit&page".',
    );
  }
  const contract = contractDraft({ ...draft, applicationId, operations: lines.map(parseOperationLine) });
  const at = path.join(folder, applicationId);
  const exists = await access(at).then(
    () => true,
    () => false,
  );
  if (exists) throw new Error(`${at} is there already and was left as it is.`);
  await mkdir(at, { recursive: true });
  const file = path.join(at, 'contract.yml');
  const head = '# yaml-language-server: $schema=../contract.schema.json\n';
  await writeFile(file, head + stringify(contract, { lineWidth: 120 }), { flag: 'wx' });
  output.result({ written: [file] }, () => [
    `written: ${file}`,
    'Replace every TODO, then: mcp-curated render --pin --only ' + applicationId,
  ]);
  return 0;
}
