import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { MARIADB } from '../support/mariadb';
import type { Listed, McpCaller } from '../support/mcpCaller';
import { newBearer } from '../support/publish';
import { provision, type ProvisionedSurfaces } from '../support/realUpstream';
import { requireService } from '../support/services';
import {
  startWordPress,
  WORDPRESS,
  type BlogContent,
  type BlogPost,
  type RunningWordPress,
} from '../support/wordpress';

const BLOG = 'web-app-wordpress';
/** The same blog as a subscriber, who is let in, as somebody with a wrong password, and as the author. */
const SUBSCRIBER = `${BLOG}-subscriber`;
const STRANGER = `${BLOG}-stranger`;
const AUTHOR = `${BLOG}-author`;

const POSTS = 57;
const CATEGORIES = 60;
const AUTHOR_NAME = 'Ada Dockside';
const AUTHOR_EMAIL = 'ada@harbour.test';
const COMMENT = { name: 'Bob Boatswain', email: 'bob@harbour.test', text: 'See you at the opening.' };
const LOCKED_TEXT = 'The safe is behind the chart.';

const published = (title: string, content: string, more: Partial<BlogPost> = {}): BlogPost => ({
  ...{ title, content, status: 'publish', author: 'ada', date: '2026-05-04 08:15:30', categories: ['News'] },
  ...more,
});

const OPENING = 'The pier opens — at last & for all';
const LOCKED = 'Where the pier keeps its money';
/** Titles that somebody who has signed in finds: posts behind a password, too, but without their text. */
const VISIBLE = ['The pier opens — at last &amp; for all', LOCKED];
const UNPUBLISHED = [
  published('A pier that is a draft', 'Draft of the pier.', { status: 'draft' }),
  published('A pier to be reviewed', 'Pending pier.', { status: 'pending' }),
  published('A private pier', 'Private pier.', { status: 'private' }),
  published('A pier to come', 'Future pier.', { status: 'future', date: '2099-01-01 00:00:00' }),
];

const CONTENT: BlogContent = {
  title: 'Harbour Blog',
  users: [
    { login: 'ada', name: AUTHOR_NAME, email: AUTHOR_EMAIL, role: 'author' },
    { login: 'mcp', name: 'MCP', email: 'mcp@harbour.test', role: 'subscriber' },
  ],
  categories: [
    { name: 'News', description: 'What happens at the harbour' },
    { name: 'Press', description: 'For the press', parent: 'News' },
    ...Array.from({ length: CATEGORIES }, (_none, index) => ({
      name: `Quay ${String(index + 1).padStart(2, '0')}`,
      description: '',
    })),
  ],
  posts: [
    published(OPENING, '<p>On Friday the pier <em>opens</em>.</p>', {
      ...{ excerpt: 'Come on Friday.', categories: ['News', 'Press'], tags: ['pier'] },
      comments: [COMMENT],
    }),
    published(LOCKED, LOCKED_TEXT, { password: 'open sesame', date: '2026-05-05 08:00:00' }),
    ...UNPUBLISHED,
    ...Array.from({ length: POSTS }, (_none, index) =>
      published(`Tide report ${String(index + 1)}`, `High water at ${String(index + 1)} metres.`, {
        date: `2026-0${String(2 + Math.floor(index / 28))}-${String((index % 28) + 1).padStart(2, '0')} 06:00:00`,
        categories: [index % 2 ? 'Press' : 'Quay 01'],
      }),
    ),
  ],
  sticky: OPENING,
};

interface Post {
  id: number;
  title: { rendered: string };
  categories: number[];
  date_gmt: string;
}

const isThere = [requireService('wordpress', WORDPRESS), requireService('wordpress', MARIADB)].every(Boolean);

(isThere ? describe : describe.skip)('a real WordPress', () => {
  let blog: RunningWordPress;
  beforeAll(async () => {
    blog = await startWordPress(CONTENT);
  });
  afterAll(async () => {
    await blog.stop();
  });

  describe.each(hosts())('behind n8n $version', (host) => {
    let surfaces: ProvisionedSurfaces;
    let caller: McpCaller;
    beforeAll(async () => {
      const as = (id: string, name: string, secret: string, base_url: string) => ({
        ...{ contract: BLOG, as: id, secret },
        upstream: { base_url, authentication: 'basic', name },
      });
      surfaces = await provision(host, 'e2e-wordpress', [
        { contract: BLOG, upstream: { base_url: blog.url, authentication: 'none' } },
        as(SUBSCRIBER, 'mcp', String(blog.passwords['mcp']), blog.privateUrl),
        as(STRANGER, 'mcp', newBearer(), blog.privateUrl),
        as(AUTHOR, 'ada', String(blog.passwords['ada']), blog.url),
      ]);
      caller = surfaces.callers[BLOG] as McpCaller;
    });
    afterAll(async () => {
      await surfaces.stop();
    });

    const search = async (args: Record<string, unknown>, who = caller) =>
      await who.get<Listed<Post>>('wordpress_search_posts', args);
    const titles = ({ items }: Listed<Post>) => items.map(({ title }) => title.rendered);

    it('lists its three tools, all of them read-only', () => {
      expect(caller.tools.map(({ name }) => name)).toEqual([
        'wordpress_search_posts',
        'wordpress_get_post',
        'wordpress_list_categories',
      ]);
      for (const { annotations } of caller.tools) expect(annotations?.['readOnlyHint']).toBe(true);
    });

    it('finds published posts, best matches first, and nothing of drafts, authors and comments', async () => {
      const found = await caller.call('wordpress_search_posts', { query: 'pier' });
      expect(found.value).toMatchObject({ returned: 1, truncated: false, next: null });
      expect((found.value as unknown as Listed).items).toEqual([
        {
          id: blog.posts[OPENING],
          title: { rendered: 'The pier opens — at last &amp; for all' },
          excerpt: { rendered: '<p>Come on Friday.</p>\n' },
          link: `${blog.url}/the-pier-opens-at-last-for-all/`,
          slug: 'the-pier-opens-at-last-for-all',
          ...{ date_gmt: '2026-05-04T08:15:30', modified_gmt: '2026-05-04T08:15:30' },
          categories: [blog.categories['News'], blog.categories['Press']],
          ...{ tags: [expect.any(Number)], sticky: true, format: 'standard' },
        },
      ]);
      for (const secret of [AUTHOR_NAME, AUTHOR_EMAIL, COMMENT.name, COMMENT.text, LOCKED_TEXT, 'draft']) {
        expect(found.text).not.toContain(secret);
      }
    });

    it('reads a search to its end over several pages', async () => {
      const args = { query: 'tide report', order_by: 'date', limit: 25 };
      const pages = await caller.pages<Post>('wordpress_search_posts', args, 'page');
      expect(pages.map(({ returned, truncated, next }) => [returned, truncated, next])).toEqual([
        [25, true, 2],
        [25, true, 3],
        [POSTS - 50, false, null],
      ]);
      const dates = pages.flatMap(({ items }) => items.map(({ date_gmt }) => date_gmt));
      expect(dates).toEqual([...dates].sort().reverse());
      expect(new Set(dates).size).toBe(POSTS);
      const beyond = await caller.call('wordpress_search_posts', { ...args, page: 4 });
      expect([beyond.code, beyond.text]).toEqual([
        'upstream_rejected',
        expect.stringContaining('larger than the number of pages'),
      ]);
      expect((await search({ query: 'tide report' })).returned).toBe(50);
    });

    it('narrows a search by category and dates, and orders it by title', async () => {
      const press = { query: 'tide report', category: blog.categories['Press'] };
      expect((await search(press)).returned).toBe(28);
      const byTitle = { query: 'report', before: '2026-02-12T00:00:00', order_by: 'title', limit: 4 };
      expect(titles(await search(byTitle))).toEqual(
        [9, 8, 7, 6].map((number) => `Tide report ${String(number)}`),
      );
      const week = { query: 'tide', after: '2026-02-01T07:00:00', before: '2026-02-05T00:00:00' };
      expect(titles(await search({ ...week, order_by: 'date' }))).toEqual(
        [4, 3, 2].map((number) => `Tide report ${String(number)}`),
      );
      expect((await search({ query: 'zeppelin' })).returned).toBe(0);
    });

    it('gets a post with its text, and one behind a password without', async () => {
      const opening = await caller.call('wordpress_get_post', { post_id: blog.posts[OPENING] });
      expect(opening.value).toMatchObject({
        ...{ status: 'publish', title: { rendered: 'The pier opens — at last &amp; for all' } },
        content: { rendered: '<p>On Friday the pier <em>opens</em>.</p>\n', protected: false },
      });
      for (const secret of [AUTHOR_NAME, COMMENT.text]) expect(opening.text).not.toContain(secret);
      const locked = await caller.call('wordpress_get_post', { post_id: blog.posts[LOCKED] });
      expect(locked.value).toMatchObject({ content: { rendered: '', protected: true } });
      expect(locked.text).not.toContain(LOCKED_TEXT);
    });

    it('lists categories by name to the end, and finds one', async () => {
      interface Category {
        id: number;
        name: string;
        parent: number;
        count: number;
      }
      const pages = await caller.pages<Category>('wordpress_list_categories', {}, 'page');
      expect(pages.map(({ returned, next }) => [returned, next])).toEqual([
        [50, 2],
        [CATEGORIES + 3 - 50, null],
      ]);
      const names = pages.flatMap(({ items }) => items.map(({ name }) => name));
      expect([names.slice(0, 3), names.at(-1)]).toEqual([['News', 'Press', 'Quay 01'], 'Uncategorized']);
      expect(await caller.get('wordpress_list_categories', { query: 'press' })).toMatchObject({
        items: [
          {
            ...{ id: blog.categories['Press'], name: 'Press', description: 'For the press', count: 29 },
            parent: blog.categories['News'],
          },
        ],
      });
      const used = await caller.get<Listed>('wordpress_list_categories', { hide_empty: true });
      expect(used.items.map(({ name }) => name)).toEqual(['News', 'Press', 'Quay 01']);
    });

    it('says that there is no such post, and no more of one that is not published', async () => {
      const missing = await caller.call('wordpress_get_post', { post_id: 999_999 });
      expect(missing.code).toBe('upstream_not_found');
      for (const { title } of UNPUBLISHED) {
        const { code, text } = await caller.call('wordpress_get_post', { post_id: blog.posts[title] });
        expect([title, code]).toEqual([title, 'upstream_auth_failed']);
        expect(text).not.toMatch(/pier/i);
      }
    });

    it('passes on no drafts of an identity that may see them', async () => {
      const author = surfaces.callers[AUTHOR] as McpCaller;
      for (const { title } of UNPUBLISHED) {
        const { code } = await author.call('wordpress_get_post', { post_id: blog.posts[title] });
        expect([title, code]).toEqual([title, 'upstream_not_found']);
      }
      expect(titles(await search({ query: 'pier' }, author)).sort()).toEqual(VISIBLE);
    });

    it('reads a blog that wants everybody to sign in as a subscriber, and not with a wrong password', async () => {
      const [subscriber, stranger] = [surfaces.callers[SUBSCRIBER], surfaces.callers[STRANGER]] as [
        McpCaller,
        McpCaller,
      ];
      const found = await subscriber.call('wordpress_search_posts', { query: 'pier' });
      expect(titles(found.value as unknown as Listed<Post>).sort()).toEqual(VISIBLE);
      expect(found.text).not.toContain(LOCKED_TEXT);
      const draft = { post_id: blog.posts[String(UNPUBLISHED[0]?.title)] };
      expect((await subscriber.call('wordpress_get_post', draft)).code).toBe('upstream_auth_failed');
      const outcomes = await stranger.inTurn(
        ['wordpress_search_posts', { query: 'pier' }],
        ['wordpress_get_post', { post_id: blog.posts[OPENING] }],
        ['wordpress_list_categories'],
      );
      expect(outcomes.map(({ code }) => code)).toEqual(Array(3).fill('upstream_auth_failed'));
    });

    itKeepsTheLogClean(host, () => [...surfaces.operator.secrets]);
  });
});
