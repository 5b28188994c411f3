import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort, keepNoLonger, removeOnExit } from '../hosts/process';
import { connectAsAdministrator, startMariadb, type RunningMariadb } from './mariadb';
import { PHP, runPhp, startPhpServer, stopAll, type PhpProgram, type PhpServer } from './php';
import type { Service } from './services';

const SCRIPTS = join(__dirname, 'wordpress');

export const WORDPRESS: Service = {
  ...PHP,
  aptPackage: 'wordpress php-cli php-mysql',
  files: ['/usr/share/wordpress/wp-settings.php'],
};

/** What a blog is filled with; `wordpress/install.php` reads it. */
export interface BlogContent {
  title: string;
  users: { login: string; name: string; email: string; role: string }[];
  /** `parent` is the name of one that comes before. */
  categories: { name: string; description: string; parent?: string }[];
  posts: BlogPost[];
  /** The title of the post that stays on top. */
  sticky?: string;
}

export interface BlogPost {
  title: string;
  content: string;
  excerpt?: string;
  status: 'publish' | 'draft' | 'pending' | 'private' | 'future';
  password?: string;
  /** Login of the user. */
  author: string;
  /** In UTC: `2026-05-04 08:15:30`. */
  date: string;
  categories: string[];
  tags?: string[];
  comments?: { name: string; email: string; text: string }[];
}

export interface RunningWordPress {
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  url: string;
  /** The same blog; its REST API is for those who have signed in only. */
  privateUrl: string;
  /** Ids by name. */
  categories: Record<string, number>;
  /** Ids by title. */
  posts: Record<string, number>;
  /** Application passwords by login. */
  passwords: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Starts Debian's WordPress on PHP's own web server, with a MariaDB of its own, and fills it.
 *
 * @throws HostError `service_missing`, `setup_failed`, `start_failed`, `start_timeout`
 */
export async function startWordPress(content: BlogContent): Promise<RunningWordPress> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-wordpress-'));
  removeOnExit(folder);
  let database: RunningMariadb | undefined;
  const servers: PhpServer[] = [];
  const stop = async () => {
    await stopAll(servers);
    await database?.stop();
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  try {
    database = await startMariadb();
    const connection = await connectAsAdministrator(database);
    await connection.query('CREATE DATABASE wordpress CHARACTER SET utf8mb4');
    await connection.end();
    const port = await freePort();
    const program: PhpProgram = {
      label: 'WordPress',
      folder,
      env: {
        WORDPRESS_DB_NAME: 'wordpress',
        WORDPRESS_DB_USER: database.user,
        WORDPRESS_DB_PASSWORD: database.password,
        WORDPRESS_DB_HOST: `127.0.0.1:${String(database.port)}`,
        WORDPRESS_SALT: randomBytes(24).toString('base64url'),
        WORDPRESS_URL: `http://127.0.0.1:${String(port)}`,
      },
    };
    const wanted = join(folder, 'content.json');
    await writeFile(wanted, JSON.stringify(content));
    const printed = await runPhp(program, join(SCRIPTS, 'install.php'), wanted);
    type Made = Pick<RunningWordPress, 'categories' | 'posts' | 'passwords'>;
    const made = JSON.parse(printed.slice(printed.lastIndexOf('\n'))) as Made;
    const script = join(SCRIPTS, 'router.php');
    const open = await startPhpServer(program, { script }, '/wp-json/wp/v2/types', port);
    servers.push(open);
    const env = { ...program.env, WORDPRESS_IS_PRIVATE: '1' };
    const closed = await startPhpServer(
      { ...program, label: 'private WordPress', env },
      { script },
      '/robots.txt',
    );
    servers.push(closed);
    return { url: open.url, privateUrl: closed.url, ...made, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
