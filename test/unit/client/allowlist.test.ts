import fc from 'fast-check';
import { parseAllowlist, parsePin, parsePins, pinText } from '../../../core/client/allowlist';
import { identityText, parseIdentity } from '../../../core/client/identity';
import { pinOf } from '../../../core/contract/pin';
import { tool } from '../../support/mcpServerDouble';
import { refusalOf } from '../policy/refusal';
import { going, pinned, refused, useHarness } from './harness';

const harness = useHarness();
const HASH = `sha256:${'0a'.repeat(32)}`;
const SERVER = 'double@http://127.0.0.1:8080';
const refusal = (list: Partial<Parameters<typeof parseAllowlist>[0]>) =>
  refusalOf(() => parseAllowlist({ server: SERVER, tools: [`one@${HASH}`], ...list }));

describe('an allowlist', () => {
  it('that is empty is an error and never means all tools', () => {
    expect(refusal({ tools: [] })).toMatchObject({ code: 'allowlist_empty' });
  });

  it.each([
    [null],
    [undefined],
    [{}],
    [''],
    ['all'],
    ['not json'],
    [{ find_ticket: '' }],
    [{ find_ticket: 'sha256:zz' }],
    [true],
  ])('that is unreadable is an error: %j (C031)', (tools) => {
    expect(refusal({ tools })).toMatchObject({ code: 'pin_malformed' });
  });

  it.each([
    'find_ticket',
    'find_ticket@',
    'find_ticket@sha256:zz',
    'find_ticket@sha256:',
    'find_ticket@*',
    `find_ticket@${HASH.toUpperCase()}`,
    `find_ticket@${HASH.slice(0, -1)}`,
    `find_ticket@${HASH}0`,
    `find_ticket@${HASH} `,
    `find_ticket@md5:${HASH.slice(7)}`,
  ])('with a pin that is missing or malformed names the tool: %j (C031)', (value) => {
    const { code, message } = refusal({ tools: [`one@${HASH}`, value] });
    expect(code).toBe('pin_malformed');
    expect(message).toContain('The pin for find_ticket is missing or malformed');
  });

  it.each([[null], [7], [{}], [['a']], [`@${HASH}`], ['*'], ['']])(
    'with an entry that is no pin is an error: %j',
    (value) => {
      expect(refusal({ tools: [value] })).toMatchObject({ code: 'pin_malformed' });
    },
  );

  it('that pins a tool twice is an error', () => {
    const other = `one@sha256:${'1b'.repeat(32)}`;
    expect(refusal({ tools: [`one@${HASH}`, other] }).message).toContain('pinned twice');
    expect(refusal({ tools: [`one@${HASH}`, `one@${HASH}`] }).code).toBe('pin_malformed');
  });

  it.each([
    [''],
    [null],
    [undefined],
    ['double'],
    ['double@'],
    ['double@not an address'],
    ['double@http://a.test/mcp'],
    ['double@http://a.test/'],
    [5],
  ])('without a readable server is an error: %j', (server) => {
    expect(refusal({ server })).toMatchObject({ code: 'pin_malformed' });
  });

  it.each([['sha256:zz'], [7], [{}], ['none'], [HASH.toUpperCase()]])(
    'with a malformed catalogue pin is an error: %j',
    (catalogue) => {
      expect(refusal({ catalogue })).toMatchObject({ code: 'pin_malformed' });
    },
  );

  it.each([[undefined], [null], ['']])('may have no catalogue pin: %j', (catalogue) => {
    expect(parseAllowlist({ server: SERVER, tools: [`one@${HASH}`], catalogue }).catalogue).toBeUndefined();
  });

  it.each([['not json'], ['{}'], [[{ name: 'x' }]], [[null]], [7]])(
    'with unreadable descriptors is an error: %j',
    (reviewed) => {
      expect(refusal({ reviewed })).toMatchObject({ code: 'pin_malformed' });
    },
  );

  it('keeps only descriptors that belong to a pin: they grant nothing', () => {
    const kept = { name: 'one', inputSchema: {} };
    const more = { name: 'two', inputSchema: {} };
    const list = parseAllowlist({
      server: SERVER,
      tools: [pinText({ name: 'one', pin: pinOf(kept) })],
      reviewed: JSON.stringify([kept, more, { ...kept, description: 'other' }]),
    });
    expect([...list.reviewed]).toEqual([[pinOf(kept), kept]]);
    expect(list.tools).toEqual([{ name: 'one', pin: pinOf(kept) }]);
  });
});

describe('a pin as text', () => {
  it('leads back to what it was written from, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (name) => {
        expect(parsePin(pinText({ name, pin: HASH }))).toEqual({ name, pin: HASH });
        expect(parsePins([pinText({ name, pin: HASH })])).toHaveLength(1);
        const identity = { name, origin: 'https://mcp.example.test:8443' };
        expect(parseIdentity(identityText(identity))).toEqual(identity);
      }),
    );
  });

  it('names a tool in an error without what could forge a line', () => {
    const { message } = refusalOf(() => parsePin(`find\n\u202e${'x'.repeat(900)}@sha256:no`));
    expect(message).not.toMatch(/[\n\u202e]/);
    expect(message.length).toBeLessThan(300);
  });
});

describe('a name that only looks like a pinned one', () => {
  it.each(['Read_File', 'read_file ', 'read\u200b_file', 'r\u0435ad_file', ' read_file', 'ｒead_file', ''])(
    'is refused without asking the server: %j (C036)',
    async (name) => {
      const double = await harness.double({
        tools: [tool('read_file'), tool('Read_File'), tool(name || 'x')],
      });
      const { server } = harness.client(double.endpoint);
      const allow = pinned({ tools: [tool('read_file')], origin: double.origin });
      expect((await refused(server.call(allow, name, {}, going()))).code).toBe('tool_not_pinned');
      expect(double.requests).toEqual([]);
      expect((await server.call(allow, 'read_file', {}, going())).isError).toBe(false);
    },
  );
});
