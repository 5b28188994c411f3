import { createHash } from 'node:crypto';
import { PolicyError } from '../policy/errors';
import { headOf } from '../policy/redaction';

/** What every model provider takes as the name of a tool. */
const MOST_CHARACTERS = 64;
const UNFIT = /[^a-zA-Z0-9_-]/gu;
const HASH_CHARACTERS = 8;

/**
 * Names under which a model sees tools, and the way back. A server's own name is kept where providers take it;
 * otherwise unfit characters become `_`, and what would be too long or the same as another ends in a part of its hash.
 *
 * @param names the server's own names, each once
 * @param prefix put in front, so that two servers with tools of one name can serve one agent; may be empty
 * @returns the server's name by the model's name, in the order of `names`
 * @throws PolicyError `tool_ambiguous` when two names cannot be told apart
 */
export function modelNames(names: readonly string[], prefix: string): ReadonlyMap<string, string> {
  const wanted = names.map((name) => ({
    name,
    plain: plainName(prefix === '' ? name : `${prefix}_${name}`),
  }));
  const byModel = new Map<string, string>();
  for (const { name, plain } of wanted) {
    const isShared = wanted.filter((other) => other.plain === plain).length > 1;
    const isKept = plain === name && prefix === '';
    const given = plain.length > MOST_CHARACTERS || (isShared && !isKept) ? hashed(plain, name) : plain;
    if (byModel.has(given)) {
      throw new PolicyError(
        'tool_ambiguous',
        'Two tools have names that a model could not tell apart; choose one of them.',
      );
    }
    byModel.set(given, name);
  }
  return byModel;
}

function plainName(name: string): string {
  return name.replace(UNFIT, '_');
}

function hashed(plain: string, name: string): string {
  const hash = createHash('sha256').update(name, 'utf8').digest('hex').slice(0, HASH_CHARACTERS);
  return `${headOf(plain, MOST_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}
