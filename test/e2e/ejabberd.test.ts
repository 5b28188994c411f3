import {
  EJABBERD,
  MUC_SERVICE,
  startEjabberd,
  XMPP_HOST,
  type RunningEjabberd,
  type XmppRoom,
} from '../support/ejabberd';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import type { McpCaller } from '../support/mcpCaller';
import { newBearer } from '../support/publish';
import { provision, type ProvisionedSurfaces } from '../support/realUpstream';
import { requireService } from '../support/services';
import type { XmppClient } from '../support/xmppClient';

const XMPP = 'web-svc-xmpp';
/** The same server with a wrong password, and with the account of somebody who may run no command. */
const STRANGER = `${XMPP}-stranger`;
const CHATTER = `${XMPP}-chatter`;
const READER = 'mcp';

const BERTHS = 56;
const MESSAGE = 'The safe is behind the chart';
const ROOM_PASSWORD = 'open sesame';

const room = (name: string, title: string, options: Record<string, string> = {}): XmppRoom => ({
  name,
  options: { title, public: 'true', ...options },
});
const ROOMS = [
  room('harbour', 'Harbour', {
    ...{ description: 'Talk about the harbour', lang: 'en', members_only: 'false', moderated: 'false' },
    ...{ password: ROOM_PASSWORD, password_protected: 'false', max_users: '100' },
  }),
  room('tea-room', 'Tea & biscuits', { public: 'false', mam: 'false' }),
  room('board', 'Board', { description: 'Nobody may know of it' }),
  ...Array.from({ length: BERTHS }, (_none, index) =>
    room(`berth-${String(index + 1)}`, `Berth ${String(index + 1)}`),
  ),
];

interface Room {
  jid: string;
  public: string;
  participants: number;
}

const describeWithEjabberd = requireService('ejabberd', EJABBERD) ? describe : describe.skip;

describeWithEjabberd('a real ejabberd', () => {
  let server: RunningEjabberd;
  let passwords: Record<string, string>;
  const people: XmppClient[] = [];
  beforeAll(async () => {
    server = await startEjabberd(READER);
    passwords = {};
    for (const user of [READER, 'ada', 'bob']) passwords[user] = await server.account(user);
    await server.rooms(ROOMS);
    for (const user of ['ada', 'bob']) {
      const person = await server.signIn(user, String(passwords[user]));
      people.push(person);
      await person.enter(`harbour@${MUC_SERVICE}`, `${user}-nick`);
    }
    await people[0]?.say(`harbour@${MUC_SERVICE}`, MESSAGE);
    await people[1]?.enter(`tea-room@${MUC_SERVICE}`, 'bob-nick');
  });
  afterAll(async () => {
    for (const person of people) person.close();
    await server.stop();
  });

  describe.each(hosts())('behind n8n $version', (host) => {
    let surfaces: ProvisionedSurfaces;
    let caller: McpCaller;
    const told: string[] = [];
    beforeAll(async () => {
      const as = (id: string, user: string, secret: string) => ({
        ...{ contract: XMPP, as: id, secret },
        upstream: {
          ...{ base_url: server.url, authentication: 'basic', name: `${user}@${XMPP_HOST}` },
          settings: {
            muc_service: MUC_SERVICE,
            rooms: ['harbour', 'tea-room', 'berth-1', 'berth-99'],
            room_pattern: '^(harbour|tea-room|berth-.*)$',
          },
        },
      });
      surfaces = await provision(host, 'e2e-ejabberd', [
        as(XMPP, READER, String(passwords[READER])),
        as(STRANGER, READER, newBearer()),
        as(CHATTER, 'ada', String(passwords['ada'])),
      ]);
      caller = surfaces.callers[XMPP] as McpCaller;
    });
    afterAll(async () => {
      await surfaces.stop();
    });

    const ask = async (tool: string, args: Record<string, unknown>) => {
      const outcome = await caller.call(`xmpp_${tool}`, args);
      told.push(outcome.text);
      return outcome;
    };

    it('lists its three tools, all of them read-only', () => {
      expect(caller.tools.map(({ name }) => name)).toEqual([
        'xmpp_list_rooms',
        'xmpp_get_room_occupancy',
        'xmpp_get_room_state',
      ]);
      for (const { annotations } of caller.tools) expect(annotations?.['readOnlyHint']).toBe(true);
    });

    it('lists the rooms that the operator shows to the end, with how many are in them', async () => {
      const pages = await caller.pages<Room>('xmpp_list_rooms', {}, 'offset');
      told.push(JSON.stringify(pages));
      expect(pages.map(({ returned, truncated, next }) => [returned, truncated, next])).toEqual([
        [50, true, 50],
        [BERTHS + 2 - 50, false, null],
      ]);
      const rooms = pages.flatMap(({ items }) => items);
      const expected = ROOMS.filter(({ name }) => name !== 'board');
      const names = rooms.map(({ jid }) => jid.replace(`@${MUC_SERVICE}`, ''));
      expect(names.sort()).toEqual(expected.map(({ name }) => name).sort());
      expect(rooms.filter(({ participants }) => participants > 0)).toEqual(
        expect.arrayContaining([
          { jid: `harbour@${MUC_SERVICE}`, public: 'true', participants: 2 },
          { jid: `tea-room@${MUC_SERVICE}`, public: 'false', participants: 1 },
        ]),
      );
    });

    it('narrows the list by a part of the address, in pages of any size', async () => {
      const pages = await caller.pages<Room>('xmpp_list_rooms', { query: 'BERTH-1', limit: 4 }, 'offset');
      // berth-1 and berth-10 to berth-19
      expect(pages.map(({ returned }) => returned)).toEqual([4, 4, 3]);
      expect((await ask('list_rooms', { query: 'zeppelin' })).value).toMatchObject({
        returned: 0,
        items: [],
      });
      expect((await ask('list_rooms', { query: 'board' })).value).toMatchObject({ returned: 0 });
    });

    it('tells how many are in a room, and that it is hidden', async () => {
      expect((await ask('get_room_occupancy', { room: 'harbour' })).value).toEqual({
        ...{ jid: `harbour@${MUC_SERVICE}`, public: 'true', participants: 2 },
      });
      expect((await ask('get_room_occupancy', { room: 'tea-room' })).value).toEqual({
        ...{ jid: `tea-room@${MUC_SERVICE}`, public: 'false', participants: 1 },
      });
    });

    it('gets the settings of a room without its password', async () => {
      const { value } = await ask('get_room_state', { room: 'harbour' });
      expect(value).toEqual({
        ...{ title: 'Harbour', description: 'Talk about the harbour', lang: 'en', max_users: '100' },
        ...{ public: 'true', public_list: 'true', persistent: 'true', moderated: 'false', mam: 'true' },
        ...{ members_only: 'false', members_by_default: 'true', password_protected: 'false' },
        ...{ anonymous: 'true', allow_change_subj: 'true', allow_user_invites: 'false', logging: 'false' },
        ...{ allow_private_messages: 'true', allow_voice_requests: 'true', captcha_protected: 'false' },
      });
      expect((await ask('get_room_state', { room: 'tea-room' })).value).toMatchObject({
        ...{ title: 'Tea & biscuits', public: 'false', mam: 'false' },
      });
    });

    it('says that a room does not exist', async () => {
      const outcomes = [
        await ask('get_room_occupancy', { room: 'berth-99' }),
        await ask('get_room_state', { room: 'berth-99' }),
      ];
      expect(outcomes.map(({ code }) => code)).toEqual(['upstream_not_found', 'upstream_not_found']);
    });

    it('asks for no room that the operator has not named, though the server has it', async () => {
      const outcomes = await caller.inTurn(
        ...['board', 'berth-2', 'BOARD', '.*', 'harbour|board'].flatMap(
          (name): [string, { room: string }][] => [
            ['xmpp_get_room_occupancy', { room: name }],
            ['xmpp_get_room_state', { room: name }],
          ],
        ),
      );
      expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set(['arguments_invalid']));
    });

    it.each([STRANGER, CHATTER])('is refused as %s', async (who) => {
      const other = surfaces.callers[who] as McpCaller;
      const outcomes = await other.inTurn(
        ['xmpp_list_rooms'],
        ['xmpp_get_room_occupancy', { room: 'harbour' }],
        ['xmpp_get_room_state', { room: 'harbour' }],
      );
      expect(outcomes.map(({ code }) => code)).toEqual(Array(3).fill('upstream_auth_failed'));
    });

    it('has told nothing of people, messages and passwords', async () => {
      const occupants = JSON.stringify(
        await server.command('get_room_occupants', { name: 'harbour', service: MUC_SERVICE }),
      );
      expect(occupants).toContain('ada-nick');
      const everything = told.join('\n');
      expect(everything).toContain('Harbour');
      for (const secret of ['ada', 'bob', MESSAGE, ROOM_PASSWORD, 'Nobody may know']) {
        expect(everything).not.toContain(secret);
      }
    });

    itKeepsTheLogClean(host, () => [...surfaces.operator.secrets, ...Object.values(passwords)]);
  });
});
