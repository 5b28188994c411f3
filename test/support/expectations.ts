import { setTimeout as sleep } from 'node:timers/promises';

import type { AttachedHost } from '../hosts/host';
import { codeOf, sentenceOf } from './mcpRequest';
import type { RawResponse } from './rawHttp';

/** What no answer and no log line may hold: frames of a stack, paths and lines of source files. */
export const STACK_TRACE = /^\s+at .+|\bat .+\(.*:\d+:\d+\)|node_modules|\.[cm]?[jt]s:\d+/m;

export interface ExpectedRefusal {
  status: number;
  code: string;
  /** Texts that must not be in the answer: addresses, secrets. Bearers and API keys go without saying. */
  forbidden?: readonly string[];
  /** What the sentence has to say beside being one. */
  sentence?: RegExp;
}

/** A refusal as everybody gets it: its status, its code, one sentence, nothing that does not belong there. */
export function expectRefusal(response: RawResponse, expected: ExpectedRefusal): void {
  expect({ status: response.status, code: codeOf(response), body: response.text }).toEqual({
    status: expected.status,
    code: expected.code,
    body: expect.any(String) as string,
  });
  expectOneSentence(sentenceOf(response));
  if (expected.sentence) expect(sentenceOf(response)).toMatch(expected.sentence);
  expectNothingLeaked(response, expected.forbidden);
}

export function expectOneSentence(sentence: string): void {
  expect(sentence).toMatch(/^(?:[a-z_]+: )?[A-Z][^\n\r]{10,400}$/);
}

export function expectNothingLeaked(response: RawResponse, forbidden: readonly string[] = []): void {
  expect(response.text).not.toMatch(STACK_TRACE);
  const whole = response.text + JSON.stringify(response.headers);
  for (const text of forbidden) expect(whole).not.toContain(text);
}

/** The audit lines of one request, found by the correlation id that its answer carries. */
export async function auditLinesOf(
  host: AttachedHost,
  response: RawResponse,
): Promise<Record<string, unknown>[]> {
  const id = String(response.headers['x-correlation-id']);
  // The line is written after the answer has left.
  for (let tries = 0; ; tries += 1) {
    const lines = host
      .logs()
      .split('\n')
      .filter((line) => line.includes('mcp_audit ') && line.includes(id))
      .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Record<string, unknown>);
    if (lines.length > 0 || tries >= 40) return lines;
    await sleep(50);
  }
}
