import { delimiter, dirname } from 'node:path';

export interface HostSettings {
  /** The n8n version: some variables exist, or mean harm, in one major version only. */
  version: string;
  nodeBinary: string;
  userFolder: string;
  port: number;
  /** Where task runners connect to; 1.100.1 and 2.x have the same default, so two hosts would collide. */
  brokerPort: number;
  encryptionKey: string;
  /** NODE_ENV of the host. */
  nodeEnv: string;
  /** Added last, so a test can change anything. */
  extra: Record<string, string>;
}

/** Everything in n8n that would call somebody on the internet. */
const STAY_OFFLINE = {
  N8N_DIAGNOSTICS_ENABLED: 'false',
  N8N_DIAGNOSTICS_CONFIG_FRONTEND: '',
  N8N_DIAGNOSTICS_CONFIG_BACKEND: '',
  N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
  N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
  N8N_DYNAMIC_BANNERS_ENABLED: 'false',
  N8N_TEMPLATES_ENABLED: 'false',
  N8N_HIRING_BANNER_ENABLED: 'false',
  N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
  // The list of verified community packages, which n8n would fetch at its start.
  N8N_VERIFIED_PACKAGES_ENABLED: 'false',
  N8N_REINSTALL_MISSING_PACKAGES: 'false',
  EXTERNAL_FRONTEND_HOOKS_URLS: '',
} as const;

const ONLY_1X = {
  // The recommended setting; always on in 2.x, which warns about the variable.
  N8N_RUNNERS_ENABLED: 'true',
  // A pool is an option of 1.x, which warns without it.
  DB_SQLITE_POOL_SIZE: '4',
} as const;

const ONLY_2X = {
  // Fetches a catalogue of MCP servers at its start and every eight hours. 1.x dies of an unknown name.
  N8N_DISABLED_MODULES: 'mcp-registry',
} as const;

/**
 * The whole environment of a test host. Of ours it sees only PATH, LANG and TMPDIR: what stands in a
 * developer's or CI's environment must neither change a test nor be readable by a workflow.
 */
export function hostEnvironment(settings: HostSettings): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const name of ['LANG', 'TMPDIR']) {
    const value = process.env[name];
    if (value) inherited[name] = value;
  }
  return {
    ...inherited,
    // n8n starts its task runner as `node`, so the right one has to be found first.
    PATH: [dirname(settings.nodeBinary), process.env['PATH'] ?? ''].join(delimiter),
    HOME: settings.userFolder,
    NODE_ENV: settings.nodeEnv,
    N8N_USER_FOLDER: settings.userFolder,
    N8N_ENCRYPTION_KEY: settings.encryptionKey,
    N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
    N8N_HOST: '127.0.0.1',
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_PORT: String(settings.port),
    N8N_SECURE_COOKIE: 'false',
    N8N_PERSONALIZATION_ENABLED: 'false',
    N8N_PROXY_HOPS: '0',
    N8N_RUNNERS_BROKER_PORT: String(settings.brokerPort),
    N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
    N8N_LOG_LEVEL: 'info',
    N8N_LOG_OUTPUT: 'console',
    NO_COLOR: '1',
    EXECUTIONS_DATA_PRUNE: 'false',
    N8N_BLOCK_ENV_ACCESS_IN_NODE: 'true',
    ...STAY_OFFLINE,
    ...(settings.version.startsWith('1.') ? ONLY_1X : ONLY_2X),
    ...settings.extra,
  };
}
