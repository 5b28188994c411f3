import type { AttachedHost } from '../hosts/host';
import { eventually } from './editWorkflow';
import { McpCaller } from './mcpCaller';
import { OperatorOnHost } from './operatorOnHost';

/** A surface that {@link provision} puts into service. */
export interface WantedSurface {
  /** The checked-in contract. */
  contract: string;
  /** Serves a copy of the contract under this id. The tools keep their names. */
  as?: string;
  upstream: Record<string, unknown>;
  /** The secret itself; it reaches the command line through a file. */
  secret?: string;
}

export interface ProvisionedSurfaces {
  readonly operator: OperatorOnHost;
  /** One caller for every surface, by application id. */
  readonly callers: Record<string, McpCaller>;
  stop(): Promise<void>;
}

/**
 * Puts surfaces into service on a host with `mcp-curated apply`, and connects a client of the MCP SDK to each.
 *
 * @param owner the marker that tells the surfaces of one suite from those of all others
 */
export async function provision(
  host: AttachedHost,
  owner: string,
  wanted: readonly WantedSurface[],
): Promise<ProvisionedSurfaces> {
  const operator = await OperatorOnHost.start(host, owner);
  const callers: Record<string, McpCaller> = {};
  const stop = async () => {
    for (const caller of Object.values(callers)) await caller.close();
    await operator.stop();
  };
  try {
    for (const { contract, as = contract, upstream, secret } of wanted) {
      if (secret !== undefined) operator.secret(`${as}.upstream`, secret);
      const reference = secret === undefined ? {} : { secret: `file:secrets/${as}.upstream` };
      await operator.addSurface(contract, { ...upstream, ...reference }, (text) =>
        text.replaceAll(contract, as),
      );
    }
    const { code, stderr } = await operator.run('apply');
    if (code !== 0) throw new Error(`apply ended with ${String(code)}: ${stderr}`);
    for (const { contract, as = contract } of wanted) {
      // 2.x publishes in the background.
      await eventually(async () => {
        callers[as] = await McpCaller.connect(operator.endpoint(as));
      });
    }
    return { operator, callers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
