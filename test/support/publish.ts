import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isSurface, readContracts } from '../../cli/contracts';
import { N8nPublicApi } from '../../cli/n8n/publicApi';
import { publishSurface, withdrawSurface } from '../../cli/n8n/publishSurface';
import { expectedHashes } from '../../core/contract/lint';
import { contractSchema, type Contract } from '../../core/contract/schema';
import type { UpstreamCredential } from '../../core/upstream/access';
import type { S3Credential } from '../../core/upstream/s3Access';
import type { DatabaseCredential } from '../../core/upstream/sqlAccess';
import type { AttachedHost } from '../hosts/host';
import { rpc, type Endpoint } from './mcpRequest';

const WORKFLOWS = join(__dirname, '..', '..', 'workflows');
const REACHABLE_LIMIT_MS = 20_000;

/** A consumer by its application id; without `tools` it may call everything that is served. */
export interface WantedConsumer {
  id: string;
  tools?: readonly string[];
  expiresAt?: string;
  requestsPerMinute?: number;
  concurrentCalls?: number;
}

export const DEFAULT_CONSUMER = 'client-inspector';

/** A surface that a suite published for itself. */
export interface TestSurface extends Endpoint {
  /** Bearer of the first consumer. */
  bearer: string;
  /** Bearers by consumer id. */
  bearers: Record<string, string>;
  workflowId: string;
  workflowName: string;
  /** Takes workflow and credentials away. */
  remove(): Promise<void>;
}

/** A bearer that exists for one run. */
export function newBearer(): string {
  return randomBytes(32).toString('base64url');
}

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** A checked-in contract, changed by `change`, with the hashes that such a contract has to carry. */
export async function readContract(
  applicationId: string,
  change: (contract: Contract) => void = () => undefined,
): Promise<Contract> {
  const [file] = await readContracts(WORKFLOWS, [applicationId]);
  if (!file || !isSurface(file)) throw new Error(`${applicationId} has no valid contract`);
  const contract = structuredClone(file.result.contract);
  change(contract);
  const { schema_sha256, specification_sha256 } = expectedHashes(contract);
  contract.tools.schema_sha256 = schema_sha256;
  contract.adapter.specification_sha256 = specification_sha256;
  return contractSchema.parse(contract);
}

export interface ContractWishes {
  applicationId: string;
  /** Distinguishes this surface from those of all other suites: path and owner marker. */
  slug: string;
  upstream: UpstreamCredential | S3Credential | DatabaseCredential;
  /** One consumer that may call everything, if absent. */
  consumers?: readonly WantedConsumer[];
  change?: (contract: Contract) => void;
}

/** Publishes a contract the way the CLI does, under a path of the suite's own, and waits until it is served. */
export async function publishContract(host: AttachedHost, wishes: ContractWishes): Promise<TestSurface> {
  const path = `e2e-${wishes.slug}`;
  const contract = await readContract(wishes.applicationId, (draft) => {
    draft.endpoint.path = path;
    wishes.change?.(draft);
  });
  const grants = grantsOf(
    wishes.consumers,
    contract.operations.map(({ name }) => name),
  );
  const api = new N8nPublicApi(host.url, host.apiKey);
  const published = await publishSurface(api, host.mcpUrl(path), {
    contract,
    owner: path,
    consumers: grants.rows,
    upstream: wishes.upstream,
  });
  const surface: TestSurface = {
    url: host.mcpUrl(path),
    ...grants.bearers,
    workflowId: published.workflowId,
    workflowName: published.workflowName,
    remove: async () => {
      await withdrawSurface(api, published);
    },
  };
  await untilServed(surface);
  return surface;
}

/** The public API of this very n8n as upstream of web-app-n8n. */
export function ownApi(host: AttachedHost): UpstreamCredential {
  return { baseUrl: host.url, authentication: 'header', name: 'X-N8N-API-KEY', secret: host.apiKey };
}

export interface Grants {
  rows: (Omit<WantedConsumer, 'tools'> & { tokenSha256: string; tools: string[] })[];
  bearers: { bearer: string; bearers: Record<string, string> };
}

/** Makes a bearer for every consumer; n8n gets the hashes. */
export function grantsOf(
  consumers: readonly WantedConsumer[] = [{ id: DEFAULT_CONSUMER }],
  everything: readonly string[],
): Grants {
  const bearers: Record<string, string> = {};
  const rows = consumers.map(({ tools = everything, ...row }) => {
    const bearer = (bearers[row.id] = newBearer());
    return { ...row, tokenSha256: sha256Hex(bearer), tools: [...tools] };
  });
  return { rows, bearers: { bearer: Object.values(bearers)[0] ?? '', bearers } };
}

/**
 * Waits until the endpoint answers a ping: activation can succeed before the path is served (2.41.1).
 *
 * @param expected the status to wait for; a surface that cannot be used answers 503
 */
export async function untilServed(endpoint: Endpoint, expected = 200): Promise<void> {
  const deadline = Date.now() + REACHABLE_LIMIT_MS;
  for (;;) {
    const { status, text } = await rpc(endpoint, 'ping');
    if (status === expected) return;
    if (status !== 404 || Date.now() > deadline) {
      throw new Error(`${endpoint.url} answers ${status} instead of ${expected}: ${text.slice(0, 300)}`);
    }
    await sleep(100);
  }
}
