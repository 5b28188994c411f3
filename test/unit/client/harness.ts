import { serverAccess, type ServerCredential } from '../../../core/client/access';
import { parseAllowlist, pinText, type Allowlist } from '../../../core/client/allowlist';
import { ListingCache } from '../../../core/client/listingCache';
import { ToolServer, type ServerSettings } from '../../../core/client/toolServer';
import { pinOf, type ToolDescriptor } from '../../../core/contract/pin';
import { PolicyError } from '../../../core/policy/errors';
import { McpServerDouble } from '../../support/mcpServerDouble';

export const SETTINGS: ServerSettings = {
  timeoutSeconds: 10,
  responseBytes: 1_000_000,
  listAgeSeconds: 0,
  compareEveryCall: false,
};

/** A signal that nobody aborts. */
export const going = (): AbortSignal => new AbortController().signal;

export interface ClientOptions {
  readonly credential?: Partial<ServerCredential>;
  readonly settings?: Partial<ServerSettings>;
  readonly cache?: ListingCache;
}

export interface TestClient {
  readonly server: ToolServer;
  readonly warnings: string[];
  /** Every line, debug lines included. */
  readonly lines: string[];
}

interface Closable {
  stop?(): Promise<void>;
  close?(): Promise<void>;
}

export interface Harness {
  double(set?: Partial<McpServerDouble>): Promise<McpServerDouble>;
  client(endpoint: string, options?: ClientOptions): TestClient;
  /** To be ended after the test. */
  own<T extends Closable>(thing: T): T;
}

/** Servers and clients of one test, all of which are closed after it. */
export function useHarness(): Harness {
  const owned: Closable[] = [];
  afterEach(async () => {
    for (const thing of owned.splice(0).reverse()) {
      await thing.close?.();
      await thing.stop?.();
    }
  });
  const own = <T extends Closable>(thing: T): T => {
    owned.push(thing);
    return thing;
  };
  return {
    own,
    double: async (set) => own(await McpServerDouble.start(set)),
    client: (endpoint, { credential, settings, cache } = {}) => {
      const warnings: string[] = [];
      const lines: string[] = [];
      const log = {
        warn: (line: string) => {
          warnings.push(line);
          lines.push(line);
        },
        debug: (line: string) => {
          lines.push(line);
        },
      };
      const access = serverAccess({
        endpoint,
        authentication: 'none',
        allowedNetworks: 'loopback',
        ...credential,
      });
      const server = own(
        new ToolServer(access, { ...SETTINGS, ...settings }, log, cache ?? new ListingCache()),
      );
      return { server, warnings, lines };
    },
  };
}

/** The pins of these tools as they are now, all of them or those that are named. */
export function pinned(
  { tools, origin }: { tools: readonly unknown[]; origin: string },
  { names, server = 'double', catalogue, reviewed = false }: PinOptions = {},
): Allowlist {
  const descriptors = (tools as ToolDescriptor[]).filter(({ name }) => names?.includes(name) ?? true);
  return parseAllowlist({
    server: `${server}@${origin}`,
    tools: descriptors.map((descriptor) => pinText({ name: descriptor.name, pin: pinOf(descriptor) })),
    catalogue,
    reviewed: reviewed ? JSON.stringify(descriptors) : undefined,
  });
}

export interface PinOptions {
  readonly names?: readonly string[];
  readonly server?: string;
  readonly catalogue?: string;
  /** Keep the descriptors too, so that a drift is told field by field. */
  readonly reviewed?: boolean;
}

/** The refusal that `attempt` ends in. Anything else fails the test. */
export async function refused(attempt: Promise<unknown>): Promise<PolicyError> {
  const outcome = await attempt.then(
    () => new Error('It was accepted.'),
    (error: unknown) => error,
  );
  if (outcome instanceof PolicyError) return outcome;
  throw outcome;
}
