import { failedWith } from './errors';
import { readAllPages } from './paging';
import { otherShape } from './shapes';
import type { Call, N8nTransport } from './transport';

/** What a call that only some releases have came to. */
export type Supported = 'done' | 'unsupported';

export function read(scope: string, path: string): Call {
  return { method: 'GET', path, scope, kind: 'read' };
}

/** A POST that leads to the same state as often as it is sent. */
export function step(id: string, verb: string, scope: string): Call {
  return { method: 'POST', path: `/workflows/${slot(id)}/${verb}`, scope, kind: 'write' };
}

export function remove(path: string, scope: string): Call {
  return { method: 'DELETE', path, scope, kind: 'write' };
}

/** An id as one segment of a path: it can lead nowhere else. */
export function slot(id: string): string {
  if (id === '' || id === '.' || id === '..') throw new Error('An id of n8n is missing.');
  return encodeURIComponent(id);
}

/** @returns undefined when there is no such object */
export async function unlessGone(transport: N8nTransport, call: Call): Promise<unknown> {
  try {
    const answer = await transport.request(call);
    // Nothing at all is no answer of n8n, and not the same as "there is none".
    if (answer === undefined) throw otherShape('JSON');
    return answer;
  } catch (error) {
    if (failedWith(error, 'not_found')) return undefined;
    throw error;
  }
}

export async function ifSupported(transport: N8nTransport, call: Call): Promise<Supported> {
  try {
    await transport.request(call);
    return 'done';
  } catch (error) {
    if (failedWith(error, 'method_not_supported')) return 'unsupported';
    throw error;
  }
}

export interface Listing<T> {
  readonly path: string;
  readonly scope: string;
  /** Plural, for sentences. */
  readonly what: string;
  readonly read: (value: unknown) => T;
  readonly filter?: Readonly<Record<string, string>>;
}

export async function listAll<T extends { readonly id: string }>(
  transport: N8nTransport,
  { path, scope, what, read: readItem, filter = {} }: Listing<T>,
): Promise<T[]> {
  return await readAllPages(
    async (page) => {
      const query = new URLSearchParams({ ...page, ...filter });
      return await transport.request(read(scope, `${path}?${query.toString()}`));
    },
    what,
    readItem,
  );
}
