/** The closed vocabularies of document 003, "Target Metadata Contract". */
export const CLASSIFICATIONS = [
  'native_server',
  'native_client',
  'native_both',
  'plugin_server',
  'sidecar_server',
  'adapter_server',
  'adapter_candidate',
  'blocked',
  'enabler',
  'subordinate',
  'no_surface',
] as const;

/** The classification under which an endpoint may exist; every other one is an audit record only. */
export const SERVED = 'adapter_server';

export const REASONS = [
  'no_remote_surface',
  'host_execution_boundary',
  'privileged_control_plane',
  'shared_engine_isolation',
  'administrative_surface',
  'duplicate_owner',
  'version_unverified',
  'licence',
  'hosted_only',
  'stdio_only',
  'interactive_browser_session',
  'unreviewed_third_party',
  'missing_dependency',
] as const;

/** What we serve: `<app>_<verb>_<noun>`. Narrower than MCP allows, and accepted by every client. */
export const TOOL_NAME_PATTERN = /^[a-z][a-z0-9_]{0,62}$/;

/** Application ids are host and path safe: they end up in workflow names, tags and endpoint paths. */
export const APPLICATION_ID_PATTERN = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
