import { createHash } from 'node:crypto';
import { SQL_DIALECTS, type SqlDialect } from '../contract/schema';
import { PolicyError } from '../policy/errors';
import { parseSettings, type UpstreamSettings } from './settings';

/** What a database credential holds, as its fields are named in n8n. */
export interface DatabaseCredential {
  readonly dialect: SqlDialect;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** `verify`: encrypted, and the server shows a certificate for its host name. */
  readonly tls: 'disable' | 'verify';
  /** PEM certificates of the authorities that may sign it; those of Node.js where it is empty. */
  readonly caPem?: string | undefined;
  /** Lines of `name = value`. */
  readonly settings?: string | undefined;
}

export interface DatabaseAccess extends Omit<DatabaseCredential, 'tls' | 'caPem' | 'settings'> {
  readonly tls: { readonly ca: string | undefined } | null;
  readonly settings: UpstreamSettings;
  /** The same for the same server and principal; tells nothing of the password. */
  readonly key: string;
}

const TLS: readonly string[] = ['disable', 'verify'];
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|[0-9A-Fa-f:.]{2,45})$/;
const NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** @throws PolicyError `credential_missing` that names the field to correct, never its value */
export function databaseAccess(credential: DatabaseCredential): DatabaseAccess {
  const { dialect, port, database, user, password, tls } = credential;
  const host = credential.host.trim().replace(/^\[(.*)\]$/, '$1');
  if (!SQL_DIALECTS.includes(dialect)) throw incomplete('the dialect is unknown');
  if (!HOST.test(host)) throw incomplete('the host is no host name and no IP address');
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw incomplete('the port is none');
  if (!NAME.test(database)) throw incomplete('the name of the database is empty or unreadable');
  if (!NAME.test(user)) throw incomplete('the user name is empty or unreadable');
  if (password === '' || password.includes('\u0000')) throw incomplete('the password is empty or unreadable');
  if (!TLS.includes(tls)) throw incomplete('TLS is neither disable nor verify');
  const ca = credential.caPem?.trim() ?? '';
  if (ca !== '' && !ca.includes('-----BEGIN CERTIFICATE-----'))
    throw incomplete('the CA certificate is not in PEM form');
  const parts = { dialect, host, port, database, user };
  return {
    ...parts,
    password,
    tls: tls === 'verify' ? { ca: ca === '' ? undefined : ca } : null,
    settings: parseSettings(credential.settings ?? ''),
    key: createHash('sha256')
      .update(JSON.stringify([parts, password, tls, ca]))
      .digest('hex'),
  };
}

function incomplete(reason: string): PolicyError {
  return new PolicyError('credential_missing', `The database credential cannot be used: ${reason}.`);
}
