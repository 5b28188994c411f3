import fc from 'fast-check';
import { lintContract } from '../../../core/contract/lint';
import { isTemplate, matchUri, overlap } from '../../../core/contract/resource';
import { surfaceOf, surfaceSchema } from '../../../core/contract/surface';
import { slotsOf } from '../../../core/contract/template';
import { contractWith, FILE, findingsIn, itRefuses, REMOVED } from './brokenContract';
import { contractOf } from './checkedIn';

const DECLARED = {
  uri_template: 'n8n://workflows/{workflow_id}',
  mime_type: 'application/json',
  expose: 'both',
  content: null,
  encoding: 'text',
};

const with1 = (change: object) => ({ 'operations.1.resource': { ...DECLARED, ...change } });
const AT = 'operations.1.resource';

describe('lint of an operation that is read as a resource', () => {
  itRefuses([
    ['a resource whose capability is off', { 'capabilities.resources': false }, /must be true/],
    [
      'the capability without a resource',
      { 'operations.1.resource': REMOVED },
      /must be false/,
      'capabilities.resources',
    ],
    [
      'a web address',
      with1({ uri_template: 'https://host/{workflow_id}' }),
      /nobody else/,
      `${AT}.uri_template`,
    ],
    ['a file', with1({ uri_template: 'file://etc/{workflow_id}' }), /nobody else/, `${AT}.uri_template`],
    [
      'a template for the scheme',
      with1({ uri_template: '{workflow_id}://a' }),
      /fixed scheme/,
      `${AT}.uri_template`,
    ],
    [
      'a slot within a segment',
      with1({ uri_template: 'n8n://w-{workflow_id}' }),
      /whole slots/,
      `${AT}.uri_template`,
    ],
    [
      'a slot that holds slashes',
      with1({ uri_template: 'n8n://{+workflow_id}' }),
      /whole slots/,
      `${AT}.uri_template`,
    ],
    [
      'a slot that is no argument',
      with1({ uri_template: 'n8n://{other}' }),
      /must be a required/,
      `${AT}.uri_template`,
    ],
    [
      'a slot twice',
      with1({ uri_template: 'n8n://{workflow_id}/{workflow_id}' }),
      /twice/,
      `${AT}.uri_template`,
    ],
    [
      'a required argument without a slot',
      with1({ uri_template: 'n8n://all' }),
      /needs a slot/,
      `${AT}.uri_template`,
    ],
    [
      'JSON of another media type',
      with1({ mime_type: 'text/plain' }),
      /application\/json/,
      `${AT}.mime_type`,
    ],
    ['JSON as base64', with1({ encoding: 'base64' }), /must be text/, `${AT}.encoding`],
    ['content that is not kept', with1({ content: '/secret' }), /point to a text/, `${AT}.content`],
    ['content that is no text', with1({ content: '/nodes' }), /point to a text/, `${AT}.content`],
    ['an unknown way to expose it', with1({ expose: 'tool' }), /resource/, `${AT}.expose`],
    [
      'a template that one URI shares with another',
      {
        'operations.0.resource': { ...DECLARED, uri_template: 'n8n://workflows/all' },
      },
      /cannot be told from/,
      `${AT}.uri_template`,
    ],
    [
      'content of a list',
      { 'operations.0.resource': { ...DECLARED, uri_template: 'n8n://list', content: '/name' } },
      /null for a list/,
      'operations.0.resource.content',
    ],
  ]);

  it('takes text that is part of the record, with its own media type', () => {
    const text = contractWith(with1({ content: '/name', mime_type: 'text/plain' }));
    // Only the hashes, which are a matter of review, are left to complain of.
    expect(findingsIn(text).map(({ path }) => path)).toEqual([
      'tools.schema_sha256',
      'adapter.specification_sha256',
    ]);
  });
});

describe('the pinned surface of a contract with resources', () => {
  const contract = contractOf('web-app-n8n');

  it('changes with the template of a resource, so that it cannot be moved unseen', () => {
    const moved = structuredClone(contract);
    const resource = moved.operations[1]?.resource;
    if (!resource) throw new Error('The contract declares no resource.');
    resource.uri_template = 'n8n://moved/{workflow_id}';
    expect(surfaceOf(moved).catalogue_pin).not.toBe(surfaceOf(contract).catalogue_pin);
    const result = lintContract(contractWith({ [`${AT}.uri_template`]: resource.uri_template }), FILE);
    expect(result.ok).toBe(false);
  });

  it('is refused when a resource in it was changed by hand', () => {
    const surface = structuredClone(surfaceOf(contract));
    const resource = surface.tools[1]?.resource;
    if (!resource) throw new Error('The surface pins no resource.');
    resource.expose = 'resource';
    expect(surfaceSchema.safeParse(surface).success).toBe(false);
  });
});

describe('a URI template', () => {
  it('is told from a plain URI by its slots', () => {
    expect([isTemplate('wiki://{page}'), isTemplate('wiki://start')]).toEqual([true, false]);
    expect(slotsOf('a://{one}/x/{two}')).toEqual(['one', 'two']);
  });

  it.each([
    ['wiki://{page}', 'wiki://{title}', true],
    ['wiki://{page}', 'wiki://start', true],
    ['wiki://a/{page}', 'wiki://b/{page}', false],
    ['wiki://{page}', 'wiki://{page}/history', false],
    ['wiki://{page}', 'note://{page}', false],
  ])('%s and %s have a URI in common: %s', (one, other, expected) => {
    expect(overlap(one, other)).toBe(expected);
  });

  it('is filled by a URI with whole, encoded segments', () => {
    expect(matchUri('test://template/{id}/data', 'test://template/12%2F3/data')).toEqual({ id: '12/3' });
    for (const uri of [
      'test://template//data',
      'test://template/1/2/data',
      'test://template/1/data/',
      'test://template/1/data?x=1',
      'test://template/%zz/data',
      'test://template/1#x/data',
      'TEST://template/1/data',
      'other://template/1/data',
      '',
    ]) {
      expect([uri, matchUri('test://template/{id}/data', uri)]).toEqual([uri, undefined]);
    }
  });

  it('gives back every text that was encoded into it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ minLength: 1 }), (one, two) => {
        const uri = `a://${encodeURIComponent(one)}/x/${encodeURIComponent(two)}`;
        expect(matchUri('a://{one}/x/{two}', uri)).toEqual({ one, two });
      }),
    );
  });

  it('never throws for what a caller sends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (uri) => {
        matchUri('wiki://{page}', uri);
        matchUri('wiki://{page}', `wiki://${uri}`);
      }),
    );
  });
});
