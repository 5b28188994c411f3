import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort, keepNoLonger, removeOnExit } from '../hosts/process';
import { PHP, runPhp, startPhpServer, stopAll, type PhpProgram, type PhpServer } from './php';
import type { Service } from './services';

const ROOT = '/usr/share/mediawiki';
const MAINTENANCE = `${ROOT}/maintenance`;
const READY = '/rest.php/v1/search/page?q=wiki&limit=1';

export const MEDIAWIKI: Service = {
  ...PHP,
  aptPackage: 'mediawiki php-cli php-sqlite3',
  files: [`${MAINTENANCE}/install.php`, `${MAINTENANCE}/importDump.php`],
};

export interface WikiRevision {
  /** ISO 8601 in UTC. */
  timestamp: string;
  /** A name, or the address of somebody without an account. */
  editor: string;
  comment: string;
  text: string;
  minor?: boolean;
}

export interface WikiPage {
  title: string;
  /** Oldest first. */
  revisions: WikiRevision[];
}

export interface RunningMediaWiki {
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  url: string;
  /** The same wiki, to those who have signed in only. */
  privateUrl: string;
  stop(): Promise<void>;
}

/**
 * Starts Debian's MediaWiki on PHP's own web server, with an SQLite database in a fresh folder, filled with pages by an
 * import as wikis exchange them.
 *
 * @param hidden the timestamp of revisions that an administrator has hidden
 * @throws HostError `service_missing`, `setup_failed`, `start_failed`, `start_timeout`
 */
export async function startMediaWiki(pages: readonly WikiPage[], hidden: string): Promise<RunningMediaWiki> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-mediawiki-'));
  removeOnExit(folder);
  const settings = join(folder, 'LocalSettings.php');
  const program: PhpProgram = { label: 'MediaWiki', folder, env: {} };
  const configured: PhpProgram = { ...program, env: { MW_CONFIG_FILE: settings } };
  const servers: PhpServer[] = [];
  const stop = async () => {
    await stopAll(servers);
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  try {
    const port = await freePort();
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    await runPhp(
      program,
      ...[`${MAINTENANCE}/install.php`, '--dbtype', 'sqlite', '--dbpath', folder, '--dbname', 'wiki'],
      ...['--scriptpath', '', '--server', `http://127.0.0.1:${String(port)}`, '--confpath', folder],
      ...['--lang', 'en', '--passfile', passwordFile, 'Harbour Wiki', 'Administrator'],
    );
    await appendFile(settings, SETTINGS);
    const dump = join(folder, 'dump.xml');
    await writeFile(dump, dumpOf(pages));
    await runPhp(configured, `${MAINTENANCE}/importDump.php`, '--username-prefix', 'import', dump);
    await runPhp(configured, `${MAINTENANCE}/rebuildtextindex.php`);
    // Text, comment and editor (1 + 2 + 4).
    const hide = `UPDATE revision SET rev_deleted = 7 WHERE rev_timestamp = '${hidden.replace(/\D/g, '')}'`;
    await runPhp(configured, `${MAINTENANCE}/sql.php`, '--query', hide);
    const open = await startPhpServer(configured, { documents: ROOT }, READY, port);
    servers.push(open);
    const closed = await startPhpServer(
      { ...configured, label: 'private MediaWiki', env: { ...configured.env, WIKI_IS_PRIVATE: '1' } },
      { documents: ROOT },
      '/api.php?action=query&meta=tokens&type=login&format=json',
    );
    servers.push(closed);
    return { url: open.url, privateUrl: closed.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A database that need not survive a power failure, and the switch for the private one. */
const SETTINGS = `
$wgDBservers = [ [
	'type' => 'sqlite', 'dbname' => $wgDBname, 'dbDirectory' => $wgSQLiteDataDir, 'tablePrefix' => '',
	'variables' => [ 'synchronous' => 'OFF' ], 'trxMode' => 'IMMEDIATE', 'flags' => DBO_DEFAULT, 'load' => 1,
] ];
if ( getenv( 'WIKI_IS_PRIVATE' ) ) {
	$wgGroupPermissions['*']['read'] = false;
}
`;

/** The export format of MediaWiki. */
function dumpOf(pages: readonly WikiPage[]): string {
  const root = 'mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en"';
  return `<${root}>${pages.map(pageIn).join('')}</mediawiki>`;
}

function pageIn({ title, revisions }: WikiPage): string {
  return `<page><title>${xml(title)}</title><ns>0</ns>${revisions.map(revisionIn).join('')}</page>`;
}

function revisionIn({ timestamp, editor, minor, comment, text }: WikiRevision): string {
  const kind = /^[\d.]+$/.test(editor) ? 'ip' : 'username';
  return `<revision>
<timestamp>${xml(timestamp)}</timestamp>
<contributor><${kind}>${xml(editor)}</${kind}></contributor>${minor ? '<minor/>' : ''}
<comment>${xml(comment)}</comment>
<model>wikitext</model><format>text/x-wiki</format>
<text xml:space="preserve">${xml(text)}</text>
</revision>`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
