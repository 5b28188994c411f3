import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllowlist, parsePin, pinText } from '../../../core/client/allowlist';
import { modelNames } from '../../../core/client/modelNames';
import { modelSchema, unsupportedSchema } from '../../../core/client/modelSchema';
import { differences } from '../../../core/client/difference';
import { canonicalJson } from '../../../core/contract/canonical';
import { pinOf, type ToolDescriptor } from '../../../core/contract/pin';
import { schemaCheck } from '../../../core/policy/jsonSchema';
import { going, useHarness } from './harness';
import { withoutAdditions } from './schemaOriginal';

const FOLDER = join(__dirname, '../../fixtures/toolLists');

interface Recorded {
  readonly package: string;
  readonly version: string;
  readonly serverInfo: { readonly name: string };
  readonly tools: readonly ToolDescriptor[];
}

const recorded = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Recorded);

/** The same value with its keys the other way round, at every depth. */
function shuffled(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shuffled);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, entry]) => [key, shuffled(entry)]),
  );
}

const harness = useHarness();

it('at least thirty real servers are recorded', () => {
  expect(recorded.length).toBeGreaterThanOrEqual(30);
});

describe.each(recorded.map((server) => ({ title: `${server.package} ${server.version}`, server })))(
  '$title',
  ({ server: { tools, serverInfo } }) => {
    it('is listed without a loss, and every tool can be pinned, found again and used, or is refused by name', async () => {
      const double = await harness.double({ tools: [...tools], serverInfo, pageSize: 7 });
      const { server } = harness.client(double.endpoint, { settings: { responseBytes: 16_777_216 } });
      const { tools: listed, unreadable, identity } = await server.listing(going());
      expect(unreadable).toBe(0);
      expect(listed.map(({ descriptor: { name } }) => name)).toEqual(tools.map(({ name }) => name));

      const allow = parseAllowlist({
        server: `${identity.name}@${identity.origin}`,
        tools: listed.map(({ descriptor: { name }, pin }) => pinText({ name, pin })),
        reviewed: JSON.stringify(listed.map(({ descriptor }) => descriptor)),
      });
      expect(allow.reviewed.size).toBe(tools.length);
      const { usable, blocked } = await server.verified(allow, going());
      expect(usable.length + blocked.length).toBe(tools.length);
      for (const { name, error } of blocked) {
        expect(error.code).toBe('schema_unsupported');
        expect(error.message).toContain(`The tool ${name} cannot be used: its `);
      }
      expect(
        modelNames(
          tools.map(({ name }) => name),
          '',
        ).size,
      ).toBe(tools.length);
    });

    it('has pins that depend on neither key order nor spelling, and schemas that lose nothing', () => {
      for (const tool of tools) {
        const pin = pinOf(tool);
        expect(pinOf(shuffled(tool) as ToolDescriptor)).toBe(pin);
        expect(pinOf(JSON.parse(JSON.stringify(tool, null, 3)) as ToolDescriptor)).toBe(pin);
        expect(parsePin(pinText({ name: tool.name, pin }))).toEqual({ name: tool.name, pin });
        expect(differences(tool, shuffled(tool) as ToolDescriptor)).toEqual([]);
        expect(pinOf({ ...tool, description: `${tool.description ?? ''} ` })).not.toBe(pin);

        const reason = unsupportedSchema(tool);
        if (reason !== undefined) {
          expect(reason).toMatch(/^its (?:input|output) schema /);
          continue;
        }
        const shown = modelSchema(tool.inputSchema);
        expect(canonicalJson(withoutAdditions(shown, tool.inputSchema))).toBe(
          canonicalJson(tool.inputSchema),
        );
        expect(shown).toMatchObject({ type: 'object', properties: expect.any(Object) as object });
        // Whatever it says to a value, it says something.
        expect(() => schemaCheck(tool.inputSchema)({})).not.toThrow();
      }
    });
  },
);
