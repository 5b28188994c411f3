import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import type { Listed, McpCaller } from '../support/mcpCaller';
import { MEDIAWIKI, startMediaWiki, type RunningMediaWiki, type WikiPage } from '../support/mediawiki';
import { newBearer } from '../support/publish';
import { provision, type ProvisionedSurfaces } from '../support/realUpstream';
import { requireService } from '../support/services';

const WIKI = 'web-app-mediawiki';
const PRIVATE = 'web-app-mediawiki-private';

const EDITOR = 'Greta Harbourmaster';
const ADDRESS = '192.0.2.77';
const HIDDEN = { timestamp: '2026-03-01T09:15:00Z', text: 'Call Greta on 555 0134.', comment: 'by mistake' };
const REVISIONS = 47;
const BERTHS = 60;
/** Longer than what a tool passes on of a text. */
const LOG_LINES = 5_000;

const guide: WikiPage = {
  title: 'Harbour guide',
  revisions: Array.from({ length: REVISIONS }, (_none, index) => {
    const timestamp = new Date(Date.UTC(2026, 2, 1, index, 15)).toISOString().replace('.000', '');
    const editor = index % 3 === 0 ? ADDRESS : EDITOR;
    const text = `== Pontoons ==\n\nThere are ${String(index + 1)} pontoons.`;
    const comment = `pontoon ${String(index + 1)}`;
    if (timestamp === HIDDEN.timestamp) return { ...HIDDEN, editor };
    return { timestamp, editor, text, comment, minor: index % 5 === 1 };
  }),
};

const page = (title: string, text: string): WikiPage => ({
  title,
  revisions: [{ timestamp: '2026-02-01T06:00:00Z', editor: EDITOR, comment: 'new page', text }],
});

const PAGES = [
  guide,
  page('Old guide', '#REDIRECT [[Harbour guide]]'),
  page('Ops/Night watch: Ä & B?', 'The night watch carries the <b>red</b> lamp & the key.'),
  page('Log of 2025', 'All quiet at the pier.\n'.repeat(LOG_LINES)),
  ...Array.from({ length: BERTHS }, (_none, index) =>
    page(`Berth ${String(index + 1)}`, `Berth number ${String(index + 1)} has a crane and a mooring.`),
  ),
];

interface Revision {
  id: number;
  timestamp: string;
  minor: boolean;
  size: number;
  delta: number | null;
  comment: string | null;
}

const describeWithMediaWiki = requireService('mediawiki', MEDIAWIKI) ? describe : describe.skip;

describeWithMediaWiki('a real MediaWiki', () => {
  let wiki: RunningMediaWiki;
  beforeAll(async () => {
    wiki = await startMediaWiki(PAGES, HIDDEN.timestamp);
  });
  afterAll(async () => {
    await wiki.stop();
  });

  describe.each(hosts())('behind n8n $version', (host) => {
    let surfaces: ProvisionedSurfaces;
    let caller: McpCaller;
    beforeAll(async () => {
      surfaces = await provision(host, 'e2e-mediawiki', [
        { contract: WIKI, upstream: { base_url: wiki.url, authentication: 'none' } },
        {
          ...{ contract: WIKI, as: PRIVATE, secret: newBearer() },
          upstream: { base_url: wiki.privateUrl, authentication: 'bearer' },
        },
      ]);
      caller = surfaces.callers[WIKI] as McpCaller;
    });
    afterAll(async () => {
      await surfaces.stop();
    });

    const search = async (args: Record<string, unknown>) =>
      await caller.get<Listed<{ key: string; title: string; excerpt: string | null }>>(
        'mediawiki_search_pages',
        args,
      );
    const history = async () =>
      await caller.pages<Revision>('mediawiki_list_revisions', { title: guide.title }, 'older_than');

    it('lists its four tools, all of them read-only', () => {
      expect(caller.tools.map(({ name }) => name)).toEqual([
        'mediawiki_search_pages',
        'mediawiki_get_page',
        'mediawiki_list_revisions',
        'mediawiki_get_revision',
      ]);
      for (const { annotations } of caller.tools) expect(annotations?.['readOnlyHint']).toBe(true);
    });

    it('finds pages by words of their text, and says when there may be more than it returns', async () => {
      const { items, returned, truncated } = await search({ query: 'red lamp' });
      expect({ returned, truncated }).toEqual({ returned: 1, truncated: false });
      expect(items[0]).toMatchObject({
        key: 'Ops/Night_watch:_Ä_&_B?',
        title: 'Ops/Night watch: Ä & B?',
        excerpt: expect.stringMatching(/<span class=.searchmatch.>lamp<\/span>/) as string,
      });
      const many = await search({ query: 'crane mooring' });
      expect({ returned: many.returned, truncated: many.truncated, next: many.next }).toEqual({
        returned: 50,
        truncated: true,
        next: null,
      });
      expect((await search({ query: 'crane', limit: 3 })).returned).toBe(3);
      expect((await search({ query: 'zeppelin' })).returned).toBe(0);
    });

    it.each(['Ops/Night_watch:_Ä_&_B?', 'Ops/Night watch: Ä & B?', 'ops/Night watch: Ä & B?'])(
      'gets a page by its key, and by its title however it is spelled: %s',
      async (title) => {
        expect(await caller.get('mediawiki_get_page', { title })).toEqual({
          id: expect.any(Number) as number,
          key: 'Ops/Night_watch:_Ä_&_B?',
          title: 'Ops/Night watch: Ä & B?',
          latest: { id: expect.any(Number) as number, timestamp: '2026-02-01T06:00:00Z' },
          content_model: 'wikitext',
          license: { title: '', url: '' },
          source: 'The night watch carries the <b>red</b> lamp & the key.',
        });
      },
    );

    it('gets a redirect as it stands there, and a text that is too long cut where it says so', async () => {
      expect(await caller.get('mediawiki_get_page', { title: 'Old guide' })).toMatchObject({
        title: 'Old guide',
        source: '#REDIRECT [[Harbour guide]]',
      });
      const { source } = await caller.get<{ source: string }>('mediawiki_get_page', { title: 'Log of 2025' });
      expect(source.length).toBeGreaterThan(50_000);
      expect(source.length).toBeLessThan(60_100);
      expect(source.startsWith('All quiet at the pier.\nAll quiet')).toBe(true);
      expect(source.slice(59_900)).toMatch(/\d/);
    });

    it('lists the history to its end, newest first, and without those who edited', async () => {
      const pages = await history();
      expect(pages.map(({ returned, truncated }) => [returned, truncated])).toEqual([
        [20, true],
        [20, true],
        [7, false],
      ]);
      const revisions = pages.flatMap(({ items }) => items);
      const newestFirst = guide.revisions.map(({ timestamp }) => timestamp).reverse();
      expect(revisions.map(({ timestamp }) => timestamp)).toEqual(newestFirst);
      expect(revisions[0]).toEqual({
        ...{ id: expect.any(Number) as number, timestamp: '2026-03-02T22:15:00Z', minor: true },
        ...{ size: 38, delta: 0, comment: 'pontoon 47' },
      });
      expect(revisions.at(-1)?.delta).toBeNull();
      const told = JSON.stringify(pages);
      for (const secret of [EDITOR, ADDRESS, HIDDEN.comment, 'Administrator']) {
        expect(told).not.toContain(secret);
      }
    });

    it('gets an old revision by the id that the history gave', async () => {
      const [newest, ...older] = (await history()).flatMap(({ items }) => items);
      const oldest = older.at(-1);
      const revision = await caller.call('mediawiki_get_revision', { revision_id: oldest?.id });
      expect(revision.value).toMatchObject({
        ...{ id: oldest?.id, comment: 'pontoon 1', timestamp: '2026-03-01T00:15:00Z' },
        page: { key: 'Harbour_guide', title: 'Harbour guide' },
        source: '== Pontoons ==\n\nThere are 1 pontoons.',
      });
      expect(revision.text).not.toContain(ADDRESS);
      const present = await caller.get('mediawiki_get_page', { title: guide.title });
      expect(present).toMatchObject({
        latest: { id: newest?.id },
        source: '== Pontoons ==\n\nThere are 47 pontoons.',
      });
    });

    it('does not show what an administrator has hidden', async () => {
      const hidden = (await history())
        .flatMap(({ items }) => items)
        .find(({ timestamp }) => timestamp === HIDDEN.timestamp);
      expect(hidden?.comment).toBeNull();
      const { code, text } = await caller.call('mediawiki_get_revision', { revision_id: hidden?.id });
      expect(code).toBe('upstream_auth_failed');
      expect(text).not.toContain('555');
    });

    it('says that there is no such page and no such revision', async () => {
      const outcomes = await caller.inTurn(
        ['mediawiki_get_page', { title: 'Zeppelin hangar' }],
        ['mediawiki_get_page', { title: 'Harbour [guide' }],
        ['mediawiki_list_revisions', { title: 'Zeppelin hangar' }],
        ['mediawiki_list_revisions', { title: guide.title, older_than: '99999' }],
        ['mediawiki_get_revision', { revision_id: 99_999 }],
      );
      expect(outcomes.map(({ code }) => code)).toEqual(Array(5).fill('upstream_not_found'));
      for (const { text } of outcomes) expect(text).not.toContain(wiki.url.slice(7));
    });

    it('is refused by a private wiki that does not know its token', async () => {
      const closed = surfaces.callers[PRIVATE] as McpCaller;
      const outcomes = await closed.inTurn(
        ['mediawiki_search_pages', { query: 'pier' }],
        ['mediawiki_get_page', { title: guide.title }],
        ['mediawiki_list_revisions', { title: guide.title }],
        ['mediawiki_get_revision', { revision_id: 2 }],
      );
      expect(outcomes.map(({ code }) => code)).toEqual(Array(4).fill('upstream_auth_failed'));
    });

    itKeepsTheLogClean(host, () => [...surfaces.operator.secrets]);
  });
});
