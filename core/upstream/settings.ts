import { PolicyError } from '../policy/errors';

/** What the operator said of one upstream besides address and secret, by name. Values are lists. */
export type UpstreamSettings = ReadonlyMap<string, readonly string[]>;

const LINE = /^([a-z][a-z0-9_]{0,62})\s*=\s*(.*)$/;

/**
 * Reads the settings of an upstream credential: one `name = value` per line, several values separated by commas.
 * Empty lines and lines that begin with `#` say nothing.
 *
 * @throws PolicyError `credential_missing` that names the line, never what stands there
 */
export function parseSettings(text: string): UpstreamSettings {
  const settings = new Map<string, readonly string[]>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, name, value = ''] = LINE.exec(trimmed) ?? [];
    if (name === undefined) throw unreadable(index, 'is not name = value');
    if (settings.has(name)) throw unreadable(index, 'names a setting twice');
    settings.set(
      name,
      value
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    );
  }
  return settings;
}

/** @throws PolicyError `credential_missing` where the operator has not said it */
export function requiredSetting(settings: UpstreamSettings, name: string): readonly string[] {
  const values = settings.get(name) ?? [];
  if (values.length > 0) return values;
  throw new PolicyError(
    'credential_missing',
    `The upstream credential lacks the setting ${name}; the operator has to add it.`,
  );
}

function unreadable(index: number, reason: string): PolicyError {
  return new PolicyError(
    'credential_missing',
    `The upstream credential cannot be used: line ${String(index + 1)} of its settings ${reason}.`,
  );
}
