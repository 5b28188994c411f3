import { findingsIn } from './brokenContract';
import { stringify } from 'yaml';
import { rawContract } from './checkedIn';
import { REMOVED, setAt, type Changes } from './brokenContract';

function reasons(changes: Changes): string[] {
  const contract = rawContract('web-app-opentalk');
  for (const [path, value] of Object.entries(changes)) setAt(contract, path.split('.'), value);
  return findingsIn(stringify(contract, { aliasDuplicateObjects: false })).map(({ reason }) => reason);
}

const PARAMETERS = 'operations.0.request.node.parameters';

describe('lint of a tool node of n8n', () => {
  it('finds nothing in the contract that is checked in', () => {
    expect(reasons({})).toEqual([]);
  });

  it.each<[string, Changes, RegExp]>([
    ['a method that writes', { [`${PARAMETERS}.method`]: 'DELETE' }, /method must be GET or HEAD/],
    [
      'an address that a model chooses',
      { [`${PARAMETERS}.url`]: "={{ $fromAI('url') }}" },
      /address must be fixed/,
    ],
    [
      'a node that is not reviewed',
      { 'operations.0.request.node.type': 'n8n-nodes-base.postgresTool' },
      /never a statement/,
    ],
    [
      'what is no tool node',
      { 'operations.0.request.node.type': 'n8n-nodes-base.executeCommand' },
      /must be a tool node/,
    ],
    ['everything that upstream answers', { [`${PARAMETERS}.fieldsToInclude`]: 'all' }, /must select fields/],
    [
      'another field than what is kept',
      { [`${PARAMETERS}.fields`]: 'id,password' },
      /paths of response.keep/,
    ],
    [
      'an argument that is asked for under another name',
      { [`${PARAMETERS}.queryParameters.parameters.1.value`]: "={{ $fromAI('seite', 'x', 'number') }}" },
      /asks for seite, which is not in the input schema/,
    ],
    [
      'an argument of another type',
      { [`${PARAMETERS}.queryParameters.parameters.1.value`]: "={{ $fromAI('page', 'x', 'string') }}" },
      /asks for page as string/,
    ],
    [
      'an argument that nothing asks for',
      { [`${PARAMETERS}.queryParameters.parameters.1.value`]: '1' },
      /by no \$fromAI/,
    ],
    [
      'a value in the path that could climb',
      { 'operations.1.input_schema.properties.room_id.pattern': '^.{1,36}$' },
      /stands in a path and needs a pattern/,
    ],
    [
      'a value in the path without a pattern',
      { 'operations.1.input_schema.properties.room_id.pattern': REMOVED },
      /needs a pattern/,
    ],
    [
      'a bound argument',
      { 'operations.0.request.bound': { who: { from: 'consumer', in: 'template', as: 'who' } } },
      /must be empty/,
    ],
    ['another kind of adapter', { 'adapter.type': 'openapi_allowlist' }, /Invalid|must be/],
  ])('refuses %s', (_what, changes, reason) => {
    expect(reasons(changes)).toContainEqual(expect.stringMatching(reason));
  });
});
