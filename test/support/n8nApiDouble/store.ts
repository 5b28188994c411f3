import { createHash } from 'node:crypto';

export type Json = Record<string, unknown>;

export interface NodeRow extends Json {
  name: string;
  type: string;
  parameters?: Json;
  credentials?: Record<string, { id?: string | null; name?: string }>;
  disabled?: boolean;
}

export interface Published {
  versionId: string;
  name: string;
  nodes: NodeRow[];
  connections: Json;
}

/** A workflow as the database holds it, not as any answer shows it. */
export interface WorkflowRow {
  id: string;
  name: string;
  active: boolean;
  isArchived: boolean;
  nodes: NodeRow[];
  connections: Json;
  settings: Json;
  staticData: unknown;
  meta: unknown;
  pinData: unknown;
  versionId: string;
  versionCounter: number;
  triggerCount: number;
  tagIds: string[];
  published: Published | null;
  createdAt: string;
  updatedAt: string;
}

export interface TagRow {
  id: string;
  name: string;
  createdAt: string;
  updatedAt: string;
}

export interface CredentialRow {
  id: string;
  name: string;
  type: string;
  data: Json;
  createdAt: string;
  updatedAt: string;
}

const BEGINNING = Date.UTC(2026, 0, 1);

/** What an n8n holds. Ids and times come from a counter: two runs of a test see the same ones. */
export class N8nStore {
  readonly workflows = new Map<string, WorkflowRow>();
  readonly tags = new Map<string, TagRow>();
  readonly credentials = new Map<string, CredentialRow>();
  /** Which workflow answers on a webhook path. */
  readonly served = new Map<string, string>();
  /** Deleting these is refused once more: n8n is still taking their endpoints down. */
  readonly unpublishing = new Set<string>();
  #counter = 0;

  newId(): string {
    this.#counter += 1;
    const hash = createHash('sha256').update(`id ${this.#counter}`).digest('base64');
    return hash.replace(/[^A-Za-z0-9]/g, '').slice(0, 16);
  }

  newVersion(): string {
    this.#counter += 1;
    const hex = createHash('sha256').update(`version ${this.#counter}`).digest('hex');
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20, 32),
    ].join('-');
  }

  now(): string {
    this.#counter += 1;
    return new Date(BEGINNING + this.#counter).toISOString();
  }

  addWorkflow(given: Partial<WorkflowRow> & { name: string }): WorkflowRow {
    const now = this.now();
    const row: WorkflowRow = {
      id: this.newId(),
      active: false,
      isArchived: false,
      nodes: [],
      connections: {},
      settings: {},
      staticData: null,
      meta: null,
      pinData: null,
      versionId: this.newVersion(),
      versionCounter: 1,
      triggerCount: 0,
      tagIds: [],
      published: null,
      createdAt: now,
      updatedAt: now,
      ...given,
    };
    this.workflows.set(row.id, row);
    return row;
  }

  addTag(name: string): TagRow {
    const now = this.now();
    const row = { id: this.newId(), name, createdAt: now, updatedAt: now };
    this.tags.set(row.id, row);
    return row;
  }

  addCredential(given: Pick<CredentialRow, 'name' | 'type' | 'data'> & { id?: string }): CredentialRow {
    const now = this.now();
    const row = { id: this.newId(), createdAt: now, updatedAt: now, ...given };
    this.credentials.set(row.id, row);
    return row;
  }

  /** Every row as text, by what it is and its id, with the endpoints. */
  snapshot(): Map<string, string> {
    const rows = (kind: string, map: ReadonlyMap<string, unknown>): [string, string][] =>
      [...map].map(([id, row]) => [`${kind} ${id}`, JSON.stringify(row)]);
    return new Map([
      ...rows('workflow', this.workflows),
      ...rows('tag', this.tags),
      ...rows('credential', this.credentials),
      ...rows('endpoint', this.served),
    ]);
  }
}
