import { fromAiIn, isExpression, isOneValue, textsOf, withoutPathValues, type FromAi } from './fromAi';

/** A tool node of n8n as it stands in a workflow. */
export interface TemplateNode {
  readonly name: string;
  readonly type: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Stands for the address of the application, which differs from one installation to the next. */
export const BASE_URL = '{base_url}';

interface NodeRules {
  /** Parameters, as patterns over dotted paths, in which a value of a model may stand. */
  readonly values: readonly RegExp[];
}

/**
 * The nodes of n8n that a template may use, and where a model may fill in something. A node that is not here has not been
 * reviewed.
 */
const REVIEWED: Record<string, NodeRules> = {
  'n8n-nodes-base.httpRequestTool': {
    values: [/^queryParameters\.parameters\.\d+\.value$/, /^bodyParameters\.parameters\.\d+\.value$/],
  },
  'n8n-nodes-base.rssFeedReadTool': { values: [] },
};

const DATABASE = /(?:postgres|mysql|microsoftSql|oracle|sqlite|snowflake|questDb|crateDb|timescale)/i;

/**
 * What must not stand in a template of n8n's own nodes: text of a model may fill values that are sent, never a statement, a
 * method or an address (document 003: no generic URL, no raw SQL tool).
 *
 * @returns sentences that name the node
 */
export function templateFaults(nodes: readonly TemplateNode[], readsBecause?: string): string[] {
  return nodes.flatMap((node) => [
    ...typeFaults(node),
    ...requestFaults(node, readsBecause),
    ...valueFaults(node),
    ...keyFaults(node),
  ]);
}

function typeFaults({ name, type, parameters }: TemplateNode): string[] {
  if (DATABASE.test(type)) {
    const filled = [...textsOf(parameters)].some(({ text }) => isExpression(text));
    return [
      filled
        ? `${name}: text of a model may fill bound values only, never a statement; use a named query`
        : `${name}: a statement of a database belongs into a named query, which is checked`,
    ];
  }
  return REVIEWED[type] ? [] : [`${name}: nodes of type ${type} are not reviewed for templates`];
}

function requestFaults({ name, type, parameters }: TemplateNode, readsBecause?: string): string[] {
  if (!type.endsWith('httpRequestTool')) return [];
  const faults: string[] = [];
  const { method = 'GET', url } = parameters;
  if (typeof method !== 'string' || isExpression(method)) faults.push(`${name}: the method must be fixed`);
  else if (method !== 'GET' && method !== 'HEAD' && !(method === 'POST' && readsBecause !== undefined)) {
    faults.push(`${name}: the method must be GET or HEAD; a POST that only searches needs reads_because`);
  }
  if (typeof url !== 'string' || !isFixedAddress(url)) {
    faults.push(`${name}: the address must be fixed, with single encoded values in its path at most`);
  }
  return faults;
}

/** An address whose origin nobody but the operator chooses. */
function isFixedAddress(url: string): boolean {
  const plain = withoutPathValues(url, 'value');
  if (plain === undefined) return false;
  const address = plain.replace(BASE_URL, 'https://app.example.test');
  if (!URL.canParse(address)) return false;
  const { protocol, username, search, hash } = new URL(address);
  const origin = url.replace(/^=/, '').split('{{')[0] ?? '';
  const originIsFixed = origin.startsWith(`${BASE_URL}/`) || /^https:\/\/[a-z0-9.-]+\//.test(origin);
  return protocol === 'https:' && username === '' && search === '' && hash === '' && originIsFixed;
}

function valueFaults({ name, type, parameters }: TemplateNode): string[] {
  const { values = [] } = REVIEWED[type] ?? {};
  return [...textsOf(parameters)].flatMap(({ path, text }) => {
    if (!isExpression(text)) return [];
    if (path === 'url' && withoutPathValues(text, 'value') !== undefined) return [];
    if (values.some((pattern) => pattern.test(path)) && isOneValue(text)) return [];
    return [
      `${name}: ${path} must be fixed text${values.length > 0 ? ' or, for a value that is sent, one $fromAI' : ''}`,
    ];
  });
}

/** One key means one thing: n8n asks a model once for all places that name it. */
function keyFaults({ name, parameters }: TemplateNode): string[] {
  const meanings = new Map<string, FromAi>();
  const faults = new Set<string>();
  for (const { text } of textsOf(parameters)) {
    for (const found of fromAiIn(text)) {
      const known = meanings.get(found.key);
      if (known && (known.description !== found.description || known.type !== found.type)) {
        faults.add(`${name}: the key ${found.key} is used twice with different meanings`);
      }
      meanings.set(found.key, known ?? found);
    }
  }
  return [...faults];
}

/** What a model is asked for by a node, by key. */
export function askedOf({ parameters }: Pick<TemplateNode, 'parameters'>): Map<string, FromAi> {
  const asked = new Map<string, FromAi>();
  for (const { text } of textsOf(parameters)) {
    for (const found of fromAiIn(text)) asked.set(found.key, found);
  }
  return asked;
}
