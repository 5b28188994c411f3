import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { definitionOf, prepareOperation, type PreparedOperation } from '../../../core/contract/definition';
import { lintContract } from '../../../core/contract/lint';
import type { Contract } from '../../../core/contract/schema';

export const WORKFLOWS = path.resolve(__dirname, '../../../workflows');

/** Every application that has a folder in `workflows/`. */
export const APPLICATION_IDS = readdirSync(WORKFLOWS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

export const fileOf = (...names: string[]): string => readFileSync(path.join(WORKFLOWS, ...names), 'utf8');

export const contractText = (applicationId: string): string => fileOf(applicationId, 'contract.yml');

/** The contract as lint reads it; a finding fails the test that asked. */
export function contractOf(applicationId: string): Contract {
  const result = lintContract(contractText(applicationId), applicationId);
  if (!result.ok || !result.contract) throw new Error(JSON.stringify(result));
  return result.contract;
}

/** The contract as plain data that a test may break. */
export const rawContract = (applicationId = 'web-app-n8n'): object =>
  parse(contractText(applicationId)) as object;

/** Every contract that is checked in; an application without a surface has none. */
export const CONTRACTS: Contract[] = APPLICATION_IDS.flatMap((applicationId) => {
  const result = lintContract(contractText(applicationId), applicationId);
  if (!result.ok) throw new Error(JSON.stringify(result.findings));
  return result.contract ?? [];
});

/** Those whose upstream is asked over HTTP. */
export const WEB_CONTRACTS = CONTRACTS.filter(({ operations }) =>
  operations.every(({ request: { kind } }) => kind === 'http' || kind === 'graphql'),
);

/** Every operation of every contract that is checked in. */
export const OPERATIONS: PreparedOperation[] = CONTRACTS.flatMap((contract) =>
  contract.operations.map((operation) => prepareOperation(definitionOf(contract, operation))),
);

/** One operation of the checked-in contracts by tool name. */
export function operationNamed(name: string): PreparedOperation {
  const found = OPERATIONS.find(({ descriptor }) => descriptor.name === name);
  if (!found) throw new Error(`No contract has an operation ${name}.`);
  return found;
}
