import type { INodeProperties } from 'n8n-workflow';
import { initialOf, type NumberOption } from './settings';

export const serverProperty: INodeProperties = {
  displayName: 'Server Name or ID',
  name: 'server',
  type: 'options',
  noDataExpression: true,
  typeOptions: { loadOptionsMethod: 'getServers' },
  default: '',
  required: true,
  description:
    'The server as it names itself, and its origin. Both are compared before anything else: a hash of a tool says nothing about who offers it. Choose from the list, or write <code>name@https://mcp.example.com</code>.',
};

/** Options that both nodes have, by name. */
const OPTIONS = {
  cataloguePin: {
    displayName: 'Catalogue Pin Name or ID',
    name: 'cataloguePin',
    type: 'options',
    noDataExpression: true,
    typeOptions: { loadOptionsMethod: 'getCatalogue' },
    default: '',
    description:
      'Pins everything that the server lists: then an added tool fails too. Choose from the list, or write the hash.',
  },
  compareEveryCall: {
    displayName: 'Compare Before Every Call',
    name: 'compareEveryCall',
    type: 'boolean',
    noDataExpression: true,
    default: false,
    description:
      'Whether to read the list again before every call. Otherwise that happens once per execution, when the server says that its list has changed, and after a minute.',
  },
  listAgeSeconds: number(
    'List Age (Seconds)',
    'listAgeSeconds',
    'How old a list of an earlier execution may be. 0: every execution reads it anew.',
  ),
  namePrefix: {
    displayName: 'Name Prefix',
    name: 'namePrefix',
    type: 'string',
    noDataExpression: true,
    default: '',
    placeholder: 'e.g. crm',
    description:
      'Put in front of the names that the model sees, so that two servers with tools of one name can serve one agent',
  },
  responseBytes: number('Response Bytes', 'responseBytes', 'Largest answer of the server in bytes'),
  resultCharacters: number(
    'Result Characters',
    'resultCharacters',
    'Most characters of a result that the model is shown. What is cut off is said.',
  ),
  reviewedDescriptors: {
    displayName: 'Reviewed Descriptors',
    name: 'reviewedDescriptors',
    type: 'json',
    noDataExpression: true,
    typeOptions: { rows: 6 },
    default: '[]',
    description:
      'The <code>descriptors</code> that the Review operation or <code>mcp-curated pin</code> printed when the tools were chosen. With them a drift is shown field by field. They grant nothing: the pins decide.',
  },
  timeoutSeconds: number('Timeout (Seconds)', 'timeoutSeconds', 'Seconds until a request is ended'),
} as const satisfies Record<string, INodeProperties>;

export type OptionName = keyof typeof OPTIONS;

export function optionsProperty(
  names: readonly OptionName[],
  show?: Record<string, string[]>,
): INodeProperties {
  return {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    default: {},
    ...(show ? { displayOptions: { show } } : {}),
    options: names.map((name) => OPTIONS[name]),
  };
}

function number(displayName: string, name: NumberOption, description: string): INodeProperties {
  return {
    displayName,
    name,
    type: 'number',
    noDataExpression: true,
    typeOptions: { minValue: name === 'listAgeSeconds' ? 0 : 1 },
    default: initialOf(name),
    description,
  };
}
