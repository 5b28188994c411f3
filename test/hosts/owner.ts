import { randomBytes } from 'node:crypto';

import { http, type HttpResponse, type Method } from './api';
import { HostError } from './errors';

/** What a set-up host is used with. */
export interface Owner {
  ownerEmail: string;
  /** For a person who opens the editor of the demo. */
  ownerPassword: string;
  /** A key for the public API with every scope that the owner may give. */
  apiKey: string;
  /** `name=value` of the owner's session, for the editor's internal routes. */
  ownerCookie: string;
}

/**
 * Makes the first owner of a fresh n8n and an API key, through routes that belong to n8n's editor. They are
 * internal and may change with any release: right for a test host, never for the CLI.
 *
 * @throws HostError `setup_failed` with the route and the status, never with what was sent or answered
 */
export async function setUpOwner(url: string, version: string): Promise<Owner> {
  const ownerEmail = 'owner@test-host.example';
  // n8n asks for 8 to 64 characters with a capital letter and a digit.
  const ownerPassword = `Aa1${randomBytes(24).toString('base64url')}`;
  const answer = await call('POST', '/rest/owner/setup', {
    email: ownerEmail,
    firstName: 'Test',
    lastName: 'Owner',
    password: ownerPassword,
  });
  const ownerCookie = (answer.headers['set-cookie'] ?? [])
    .map((cookie) => cookie.split(';')[0] ?? '')
    .find((cookie) => cookie.startsWith('n8n-auth='));
  if (!ownerCookie) throw failure('/rest/owner/setup', 'set no session cookie');

  const scopes = data(await call('GET', '/rest/api-keys/scopes', undefined, ownerCookie));
  const key = data(
    await call('POST', '/rest/api-keys', { label: 'test-host', scopes, expiresAt: null }, ownerCookie),
  );
  const apiKey = (key as { rawApiKey?: unknown } | undefined)?.rawApiKey;
  if (typeof apiKey !== 'string') throw failure('/rest/api-keys', 'returned no rawApiKey');
  return { ownerEmail, ownerPassword, apiKey, ownerCookie };

  async function call(method: Method, path: string, body?: unknown, cookie?: string): Promise<HttpResponse> {
    const headers: Record<string, string> = cookie ? { cookie } : {};
    const response = await http({ method, url: `${url}${path}`, headers, body });
    if (response.status >= 400) throw failure(path, `answered ${response.status}`);
    return response;
  }

  function failure(path: string, what: string): HostError {
    return new HostError('setup_failed', `n8n ${version}: ${path} ${what}`);
  }
}

/** The names of all node types that a host knows, `n8n-nodes-base.webhook` style. */
export async function readNodeTypes(url: string, ownerCookie: string): Promise<string[]> {
  const response = await http({
    method: 'GET',
    url: `${url}/types/nodes.json`,
    headers: { cookie: ownerCookie },
  });
  if (response.status !== 200 || !Array.isArray(response.body)) {
    throw new HostError('setup_failed', `/types/nodes.json answered ${response.status}`);
  }
  return (response.body as Array<{ name: string }>).map((type) => type.name);
}

function data(response: HttpResponse): unknown {
  return (response.body as { data?: unknown }).data;
}
