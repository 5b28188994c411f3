/** A release that the double answers like. */
export type Release = '1.100.1' | '2.4' | '2.8' | '2.14' | '2.41.1';

/**
 * What differs between releases. 1.100.1 and 2.41.1 were asked (real hosts); those in between were read from the
 * OpenAPI files and the handlers of n8n 2.4.0, 2.8.0 and 2.14.0.
 */
export interface Profile {
  readonly release: Release;
  /** Keys of settings that a create or update may hold. */
  readonly settings: readonly string[];
  /** Fields of a workflow that may be written, and those that are refused as read-only. */
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
  /** Whose words say that a key is unknown: ajv's, which does not name it, or zod's, which does. */
  readonly unknownKey: 'ajv' | 'zod';
  readonly patchCredential: boolean;
  readonly listCredentials: boolean;
  readonly getCredential: boolean;
  readonly discover: boolean;
  readonly archive: boolean;
  readonly publish: boolean;
  /** A credential may be made with an id of one's own. */
  readonly ownCredentialId: boolean;
  /** An update adds to the settings, or replaces them. */
  readonly mergesSettings: boolean;
  /** A draft beside the published version, conflicts of webhook paths, archived workflows that cannot be changed. */
  readonly publishes: boolean;
  /** The status of a conflict of webhook paths, where there is one. */
  readonly conflictStatus: 400 | 409;
  /** A published workflow is not deleted. */
  readonly keepsPublished: boolean;
  /** What the trouble with a query is: refused, or ignored. */
  readonly strictQuery: boolean;
  /** Settings that appear on their own, as people report of 2.x. */
  readonly addedSettings: Readonly<Record<string, unknown>>;
}

const SETTINGS_1_100 = [
  'saveExecutionProgress',
  'saveManualExecutions',
  'saveDataErrorExecution',
  'saveDataSuccessExecution',
  'executionTimeout',
  'errorWorkflow',
  'timezone',
  'executionOrder',
];
const SETTINGS_2_4 = [
  ...SETTINGS_1_100,
  'callerPolicy',
  'callerIds',
  'timeSavedPerExecution',
  'availableInMCP',
];
const SETTINGS_2_41 = [
  ...SETTINGS_1_100,
  'binaryMode',
  'callerPolicy',
  'callerIds',
  'timeSavedMode',
  'timeSavedPerExecution',
  'redactionPolicy',
  'availableInMCP',
  'customTelemetryTags',
  'credentialResolverId',
];

const OLDEST: Profile = {
  release: '1.100.1',
  settings: SETTINGS_1_100,
  writable: ['name', 'nodes', 'connections', 'settings', 'staticData'],
  readOnly: ['id', 'active', 'createdAt', 'updatedAt', 'tags'],
  unknownKey: 'ajv',
  patchCredential: false,
  listCredentials: false,
  getCredential: false,
  discover: false,
  archive: false,
  publish: false,
  ownCredentialId: false,
  mergesSettings: false,
  publishes: false,
  conflictStatus: 400,
  keepsPublished: false,
  strictQuery: true,
  addedSettings: {},
};

const SINCE_2_4: Profile = {
  ...OLDEST,
  release: '2.4',
  settings: SETTINGS_2_4,
  writable: [...OLDEST.writable, 'shared', 'activeVersion'],
  patchCredential: true,
  mergesSettings: true,
  publishes: true,
  addedSettings: { callerPolicy: 'workflowsFromSameOwner', availableInMCP: false },
};

const SINCE_2_8: Profile = { ...SINCE_2_4, release: '2.8', listCredentials: true };

const SINCE_2_14: Profile = {
  ...SINCE_2_8,
  release: '2.14',
  discover: true,
  writable: [...SINCE_2_8.writable, 'pinData'],
  readOnly: [...OLDEST.readOnly, 'isArchived', 'versionId', 'triggerCount', 'meta'],
};

const NEWEST: Profile = {
  ...SINCE_2_14,
  release: '2.41.1',
  settings: SETTINGS_2_41,
  writable: [...SINCE_2_14.writable, 'nodeGroups', 'projectId', 'parentFolderId'],
  unknownKey: 'zod',
  getCredential: true,
  archive: true,
  publish: true,
  ownCredentialId: true,
  conflictStatus: 409,
  keepsPublished: true,
  strictQuery: false,
};

export const PROFILES: Readonly<Record<Release, Profile>> = {
  '1.100.1': OLDEST,
  '2.4': SINCE_2_4,
  '2.8': SINCE_2_8,
  '2.14': SINCE_2_14,
  '2.41.1': NEWEST,
};

export const RELEASES = Object.keys(PROFILES) as Release[];
