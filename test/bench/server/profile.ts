import type { CpuProfile, ProfileNode } from '../../support/nodeInspector';

/** Share of the CPU time of a process, by whose code it was; idle time does not count. */
export interface Share {
  /** `ours`, an npm package, `garbage collection` or `node`. */
  readonly owner: string;
  /** 0 to 1. */
  readonly share: number;
}

export interface Attribution {
  readonly owners: readonly Share[];
  /** The costliest functions of ours, with what Node does on their behalf. */
  readonly ours: readonly { readonly name: string; readonly share: number }[];
}

/**
 * Says whose code the time went to. Time inside of Node itself belongs to whoever called it, so that hashing or a
 * `Request` that we make counts as ours.
 */
export function attribute(profile: CpuProfile): Attribution {
  const parents = new Map<number, ProfileNode>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node);
  const owners = new Map<string, number>();
  const ours = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[index] ?? 0;
    const leaf = nodes.get(id);
    if (!leaf || leaf.callFrame.functionName === '(idle)') continue;
    busy += micros;
    const frame = responsible(leaf, parents);
    const owner = ownerOf(frame);
    owners.set(owner, (owners.get(owner) ?? 0) + micros);
    if (owner !== OURS) continue;
    const name = frame.callFrame.functionName || '(anonymous)';
    ours.set(name, (ours.get(name) ?? 0) + micros);
  }
  const shares = (map: Map<string, number>) =>
    [...map].map(([name, micros]) => ({ name, share: micros / busy })).sort((a, b) => b.share - a.share);
  return {
    owners: shares(owners).map(({ name, share }) => ({ owner: name, share })),
    ours: shares(ours),
  };
}

export const OURS = 'ours';

/** The nearest frame above that is of a file; the leaf itself where there is none. */
function responsible(leaf: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): ProfileNode {
  for (let node: ProfileNode | undefined = leaf; node; node = parents.get(node.id)) {
    const { url } = node.callFrame;
    if (url !== '' && !url.startsWith('node:')) return node;
  }
  return leaf;
}

function ownerOf({ callFrame: { url, functionName } }: ProfileNode): string {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (url === '' || url.startsWith('node:')) return 'node';
  if (url.includes('n8n-nodes-mcp-curated')) return OURS;
  const [, name = 'other'] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return name;
}
