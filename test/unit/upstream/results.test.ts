import type { Operation } from '../../../core/contract/operation';
import { REDACTED } from '../../../core/policy/redaction';
import { body, json } from '../../support/upstreamDouble';
import { orderById, parameters, prepare, useHarness, type Changes } from './harness';

const harness = useHarness();
const rows = (count: number) =>
  Array.from({ length: count }, (_row, index) => ({ id: index + 1, name: 'row' }));
const cursor: Operation['pagination'] = {
  style: 'cursor',
  size_argument: 'limit',
  position_argument: 'q',
  next: '/next',
};

const answered = async (body: unknown, changes: Changes = {}, args: object = {}) => {
  harness().upstream.on('*', json(body));
  return (await harness().call(prepare(changes), args)).structured;
};

describe('how many records are asked for', () => {
  it.each([
    ['the page size when nothing is said', {}, {}, '50'],
    ['what is asked for', { limit: 10 }, {}, '10'],
    ['the page size when more is asked for', { limit: 999 }, {}, '50'],
    ['no more than may be returned', { limit: 40 }, { result_items: 30 }, '30'],
  ])('is %s', async (_what, args, limits, sent) => {
    await answered({ rows: [] }, { limits }, args);
    expect(parameters(harness().upstream.lastRequest.query)).toMatchObject({ per_page: [sent] });
  });
});

describe('a list says whether there is more', () => {
  // Case C131: the first 50 of 56 rows presented as all.
  it('when 50 of 56 rows fill the first page, with the way to the next one', async () => {
    const result = await answered({ rows: rows(50) });
    expect(result).toMatchObject({ returned: 50, truncated: true, next: 2 });
    const rest = await answered({ rows: rows(6) }, {}, { page: result['next'] });
    expect(rest).toMatchObject({ returned: 6, truncated: false, next: null });
    expect(parameters(harness().upstream.lastRequest.query)).toMatchObject({ page: ['2'], per_page: ['50'] });
  });

  const offset = { style: 'offset' } as const;
  const none = { style: 'none', position_argument: null } as const;
  it.each<[what: string, pagination: Changes['pagination'], body: object, args: object, expected: object]>([
    ['pages: a part of a page', {}, { rows: rows(3) }, {}, { returned: 3, truncated: false, next: null }],
    ['pages: nothing', {}, { rows: [] }, { page: 9 }, { returned: 0, truncated: false, next: null }],
    ['pages: null for nothing', {}, { rows: null }, {}, { returned: 0, truncated: false, next: null }],
    [
      'pages: a full one later on',
      {},
      { rows: rows(5) },
      { page: 4, limit: 5 },
      { truncated: true, next: 5 },
    ],
    [
      'pages: more than was asked for',
      {},
      { rows: rows(101) },
      {},
      { returned: 50, truncated: true, next: null },
    ],
    ['offsets: a full page', offset, { rows: rows(50) }, { page: 100 }, { truncated: true, next: 150 }],
    ['offsets: a part of a page', offset, { rows: rows(49) }, {}, { truncated: false, next: null }],
    [
      'offsets: more than was asked for',
      offset,
      { rows: rows(130) },
      { limit: 20 },
      { returned: 20, truncated: true, next: 20 },
    ],
    ['cursor: one more page', cursor, { rows: rows(2), next: 'abc' }, {}, { truncated: true, next: 'abc' }],
    ['cursor: a number', cursor, { rows: rows(2), next: 17 }, {}, { truncated: true, next: '17' }],
    ['cursor: the end', cursor, { rows: rows(50), next: null }, {}, { truncated: false, next: null }],
    ['cursor: an empty one', cursor, { rows: rows(50), next: '' }, {}, { truncated: false, next: null }],
    ['cursor: none', cursor, { rows: rows(50) }, {}, { truncated: false, next: null }],
    [
      'cursor: cut, so that the next page would skip',
      cursor,
      { rows: rows(101), next: 'abc' },
      {},
      { returned: 50, truncated: true, next: null },
    ],
    ['no pages: a full answer', none, { rows: rows(50) }, {}, { truncated: true, next: null }],
    ['no pages: a part', none, { rows: rows(49) }, {}, { truncated: false, next: null }],
    [
      'no pages: more than can be returned',
      { ...none, size_argument: null },
      { rows: rows(200) },
      {},
      { returned: 100, truncated: true, next: null },
    ],
  ])('with %s', async (_what, pagination, body, args, expected) => {
    const result = await answered(body, pagination === undefined ? {} : { pagination }, args);
    expect(result).toMatchObject(expected);
    expect(result['items']).toHaveLength(Number(result['returned']));
  });

  it('takes the empty list, which PHP writes for an empty object, for no records by name', async () => {
    const response = { map: { key: 'id', value: 'name' }, keep: ['id', 'name'] };
    expect(await answered({ rows: [] }, { response })).toMatchObject({ items: [], truncated: false });
  });

  it('takes no other list for records by name', async () => {
    harness().upstream.on('*', json({ rows: [{ id: 1 }] }));
    const prepared = prepare({ response: { map: { key: 'id', value: 'name' }, keep: ['id', 'name'] } });
    expect((await harness().failure(prepared, {})).code).toBe('upstream_unexpected_shape');
  });

  it.each([{}, { data: [] }, { rows: 'none' }, { rows: { a: 1 } }, [], 'rows', 7, null])(
    'and never takes for an empty list what is none: %j',
    async (body) => {
      harness().upstream.on('*', json(body));
      expect((await harness().failure(prepare(), {})).code).toBe('upstream_unexpected_shape');
    },
  );

  // XML has no element for an empty list; the element around it is there.
  it.each(['<r><rows/></r>', '<r><rows></rows></r>', '<r><rows><note>none</note></rows></r>'])(
    'and takes an element without records for an empty list: %s',
    async (text) => {
      harness().upstream.on('*', body(text, { type: 'application/xml' }));
      const xml = prepare({ response: { format: 'xml', lists: ['row'], items: '/r/rows/row' } });
      expect((await harness().call(xml, {})).structured).toMatchObject({ items: [], returned: 0 });
    },
  );

  it.each(['<r/>', '<r><rows>text</rows></r>', '<html/>'])(
    'and never takes for an empty list what is another document: %s',
    async (text) => {
      harness().upstream.on('*', body(text, { type: 'application/xml' }));
      const xml = prepare({ response: { format: 'xml', lists: ['row'], items: '/r/rows/row' } });
      expect((await harness().failure(xml, {})).code).toBe('upstream_unexpected_shape');
    },
  );

  it('and takes a list without lists inside for an empty list, where the records stand in the first one', async () => {
    const first = { response: { items: '/0' } };
    expect(await answered([], first)).toMatchObject({ items: [], returned: 0 });
    harness().upstream.on('*', json({}));
    expect((await harness().failure(prepare(first), {})).code).toBe('upstream_unexpected_shape');
  });
});

describe('what is returned of a record', () => {
  // Go writes quotes as numbers; a file named it's.pdf must not come as it&#39;s.pdf.
  it('has the text of XML without its escapes, and what was escaped twice with one', async () => {
    const text = '<r><row><id>&#39;&#x22;&apos;&quot;&lt;&gt;&amp;</id><name>&amp;#39;</name></row></r>';
    harness().upstream.on('*', body(text, { type: 'text/xml' }));
    const xml = prepare({
      operation: { output_schema: {} },
      response: { format: 'xml', lists: ['row'], items: '/r/row' },
    });
    const { structured } = await harness().call(xml, {});
    expect(structured['items']).toEqual([{ id: `'"'"<>&`, name: '&#39;' }]);
  });

  const shaped = async (record: unknown, response: Changes['response']) => {
    const operation = { output_schema: {} };
    return (await answered({ rows: [record] }, { operation, ...(response && { response }) }))['items'];
  };

  it.each<[keep: string[], record: unknown, kept: unknown]>([
    [['id'], { id: 1, secret: 's' }, { id: 1 }],
    [['tags[].name'], { tags: [{ name: 'a', id: 1 }, 'x', null] }, { tags: [{ name: 'a' }, null, null] }],
    [['by.*.help'], { by: { a: { help: 'h', x: 1 } } }, { by: { a: { help: 'h' } } }],
    [['a', 'a.b'], { a: { b: 1, c: 2 } }, { a: { b: 1, c: 2 } }],
    [['a.b'], { a: [{ b: 1 }] }, { a: [] }],
    [['.'], 'text', 'text'],
    [['gone'], { id: 1 }, {}],
  ])('%j keeps exactly that', async (keep, record, kept) => {
    expect(await shaped(record, { keep })).toEqual([kept]);
  });

  it('is harmless when upstream uses names of object members', async () => {
    const record: unknown = JSON.parse(
      '{"labels":{"__proto__":{"polluted":1},"constructor":"x"},"__proto__":{"a":1}}',
    );
    const [kept] = (await shaped(record, { keep: ['labels'] })) as object[];
    expect(JSON.stringify(kept)).toBe('{"labels":{"__proto__":{"polluted":1},"constructor":"x"}}');
    expect({}).not.toHaveProperty('polluted');
  });

  it('is redacted where the contract says so', async () => {
    const response = { keep: ['user', 'id'], redact: ['user.email', 'user.phones[]', 'user.gone'] };
    const record = { id: 1, user: { name: 'n', email: 'e@a.test', phones: ['1', '2'] } };
    expect(await shaped(record, response)).toEqual([
      { id: 1, user: { name: 'n', email: REDACTED, phones: [REDACTED, REDACTED] } },
    ]);
  });

  it('says where a text was cut, and never cuts a character in two', async () => {
    const response = { keep: ['t', 'list'], text_characters: 3 };
    expect(await shaped({ t: 'abc', list: ['ab😀cd', 'abcdef'] }, response)).toEqual([
      { t: 'abc', list: ['ab… [cut: 6 characters in total]', 'abc… [cut: 6 characters in total]'] },
    ]);
  });

  it('carries the values beside the list that the contract names, when they are there', async () => {
    const envelope = {
      total: { pointer: '/meta/total', schema: { type: 'integer' } },
      note: { pointer: '/note', schema: {} },
    };
    const result = await answered({ rows: [], meta: { total: 7, secret: 's' } }, { response: { envelope } });
    expect(result).toEqual({ items: [], returned: 0, truncated: false, next: null, total: 7 });
  });

  it('is refused when a value has another type than declared', async () => {
    harness().upstream.on('*', json({ rows: [{ id: '1', name: 'a' }] }));
    expect((await harness().failure(prepare(), {})).code).toBe('upstream_unexpected_shape');
  });
});

describe('the size of an answer', () => {
  // Case C133: one huge record fills the context.
  it('stays small for a huge record: ids and titles whole, long texts cut with their sizes', async () => {
    const body = {
      id: 'T1',
      title: 'Printer',
      html: 'y'.repeat(900_000),
      attachment_base64: 'QUJD'.repeat(200_000),
    };
    harness().upstream.on('*', json(body));
    const ticket = prepare({ operation: orderById, limits: { response_bytes: 4_194_304 } });
    const { text } = await harness().call(ticket, { id: 'T1' });
    expect(text.length).toBeLessThan(1_000);
    expect(JSON.parse(text)).toMatchObject({
      id: 'T1',
      title: 'Printer',
      html: expect.stringMatching(/^y{200}… \[cut: 900000 characters in total\]$/) as string,
      attachment_base64: expect.stringMatching(/\[cut: 800000 characters in total\]$/) as string,
    });
  });

  const exactly = (bytes: number) => ({
    rows: [{ id: 1, name: 'x'.repeat(bytes - '{"rows":[{"id":1,"name":""}]}'.length) }],
  });

  it.each([
    ['accepted up to the last byte of upstream', 1_000, undefined],
    ['refused as a whole one byte later', 1_001, 'response_too_large'],
  ])('is %s', async (_what, bytes, code) => {
    harness().upstream.on('*', json(exactly(bytes)));
    const bounded = prepare({ limits: { response_bytes: 1_000 } });
    const attempt = harness().call(bounded, {});
    if (code === undefined) await expect(attempt).resolves.toMatchObject({ structured: { returned: 1 } });
    else await expect(attempt).rejects.toMatchObject({ code });
  });

  it('is bounded for the result too, which can be larger than what upstream sent', async () => {
    harness().upstream.on('*', json({ rows: [] }));
    const failure = await harness().failure(prepare({ limits: { response_bytes: 20 } }), {});
    expect(failure).toMatchObject({ code: 'response_too_large' });
    expect(failure.message).toContain('20 bytes');
  });
});
