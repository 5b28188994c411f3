import { N8nApiError, notThePublicApi } from './errors';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface N8nTag {
  readonly id: string;
  readonly name: string;
}

/** A workflow as n8n lists it, with whatever else this release tells of it. */
export interface N8nWorkflow {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  /** Absent where the release does not know archived workflows. */
  readonly isArchived?: boolean;
  readonly nodes: readonly JsonObject[];
  readonly connections: JsonObject;
  readonly settings: JsonObject;
  /** Absent in answers to writes, and where tags are switched off. */
  readonly tags?: readonly N8nTag[];
  /** Of what is saved. */
  readonly versionId?: string;
  /** Of what is running; null where nothing is, absent before 2.x, where what is saved is what is running. */
  readonly activeVersionId?: string | null;
}

/** n8n never tells what is in a credential. */
export interface N8nCredential {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** A credential of which no more is told than this. */
export type UnusedCredential = Omit<N8nCredential, 'type'>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws N8nApiError `not_the_public_api` when it is no workflow */
export function readWorkflow(value: unknown): N8nWorkflow {
  const workflow = objectOf(value, 'a workflow');
  const { id, name, active, nodes, connections, settings, tags } = workflow;
  const good =
    isId(id) &&
    typeof name === 'string' &&
    typeof active === 'boolean' &&
    Array.isArray(nodes) &&
    nodes.every(isObject) &&
    isObject(connections) &&
    (settings === undefined || settings === null || isObject(settings));
  if (!good) throw otherShape('a workflow');
  return {
    ...workflow,
    settings: settings ?? {},
    ...(tags === undefined || tags === null ? {} : { tags: listOf(tags, 'tags').map(readTag) }),
  } as unknown as N8nWorkflow;
}

/** @throws N8nApiError `not_the_public_api` when it is no tag */
export function readTag(value: unknown): N8nTag {
  const { id, name } = objectOf(value, 'a tag');
  if (!isId(id) || typeof name !== 'string') throw otherShape('a tag');
  return { id, name };
}

/** @throws N8nApiError `not_the_public_api` when it is no credential */
export function readCredential(value: unknown): N8nCredential {
  const { id, name, type } = objectOf(value, 'a credential');
  if (!isId(id) || typeof name !== 'string' || typeof type !== 'string') throw otherShape('a credential');
  return { id, name, type };
}

/** @throws N8nApiError `not_the_public_api` when it is none */
export function objectOf(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw otherShape(what);
  return value;
}

/** @throws N8nApiError `not_the_public_api` when it is none */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw notAList(what);
  return value;
}

export function notAList(what: string): N8nApiError {
  return notThePublicApi(200, `is not a list of ${what} as the public API of n8n gives it`);
}

export function otherShape(what: string): N8nApiError {
  return notThePublicApi(200, `is not ${what} as the public API of n8n gives it`);
}

/**
 * What the answer to a request that has made something says.
 *
 * @throws N8nApiError `outcome_unknown` when it cannot be read
 */
export function readMade<T>(answer: unknown, what: string, read: (value: unknown) => T): T {
  try {
    return read(answer);
  } catch (error) {
    throw new N8nApiError(
      200,
      `Whether ${what} was made is not known: the answer has another shape than that of the public API of n8n`,
      'outcome_unknown',
      { cause: error },
    );
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
