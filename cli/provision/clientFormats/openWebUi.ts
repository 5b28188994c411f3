import { NO_REFERENCE, type ClientFormat } from './connection';

/**
 * `TOOL_SERVER_CONNECTIONS` of Open WebUI: the environment variable holds the list as JSON; the object around it is the
 * body of `POST /api/v1/configs/tool_servers`.
 *
 * Sources: `ToolServerConnection` in `backend/open_webui/routers/configs.py` of open-webui/open-webui (`url`, `path`,
 * `type: mcp`, `auth_type: bearer`, `headers`, `key`, `config`, other keys allowed); `has_connection_access` in
 * `backend/open_webui/utils/access_control/__init__.py` (`config.access_grants` of `{principal_type, principal_id,
 * permission}`; none means administrators only; a group is compared by its id); `config.py` (`json.loads` of the
 * variable: nothing in it is expanded). `function_name_filter_list` is a text of names by commas.
 *
 * Document 003 maps every connection to the one group `roles/<application_id>/mcp`, whose id Open WebUI makes up and
 * nobody may predict. The grant therefore names the group by a reference; until somebody puts the id there, no group has
 * it and only administrators see the connection.
 */
export const openWebUi: ClientFormat = {
  consumer: 'web-app-openwebui',
  reference: NO_REFERENCE,
  render: (connections, secretOf) => ({
    TOOL_SERVER_CONNECTIONS: connections.map((connection) => ({
      type: 'mcp',
      url: connection.endpoint,
      path: '',
      auth_type: 'bearer',
      headers: null,
      key: secretOf(connection),
      config: {
        enable: true,
        function_name_filter_list: connection.toolNames.join(','),
        access_grants: [
          {
            principal_type: 'group',
            principal_id: `\${group:roles/${connection.application_id}/mcp}`,
            permission: 'read',
          },
        ],
      },
      info: {
        id: connection.application_id,
        name: connection.title,
        description: connection.instructions,
      },
    })),
  }),
};
