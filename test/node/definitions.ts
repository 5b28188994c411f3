import { readFileSync } from 'node:fs';
import path from 'node:path';
import { definitionOf } from '../../core/contract/definition';
import { lintContract } from '../../core/contract/lint';
import type { Contract } from '../../core/contract/schema';

/** A checked-in contract. */
export function contractOf(applicationId: string): Contract {
  const file = path.resolve(__dirname, '../../workflows', applicationId, 'contract.yml');
  const linted = lintContract(readFileSync(file, 'utf8'), file);
  if (!linted.ok || !linted.contract) throw new Error(`${file} holds no surface: ${JSON.stringify(linted)}`);
  return linted.contract;
}

/** What a rendered Read Tool node carries for one operation. */
export function definitionText(applicationId: string, tool: string): string {
  const contract = contractOf(applicationId);
  const operation = contract.operations.find(({ name }) => name === tool);
  if (!operation) throw new Error(`${applicationId} has no operation ${tool}.`);
  return JSON.stringify(definitionOf(contract, operation));
}
