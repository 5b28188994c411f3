import type { INodeProperties } from 'n8n-workflow';
import { optionsProperty, serverProperty } from '../shared/allowlistClient/properties';

const forTool = (...operation: string[]) => ({ show: { resource: ['tool'], operation } });
const forResource = (...operation: string[]) => ({ show: { resource: ['resource'], operation } });

export const clientProperties: INodeProperties[] = [
  {
    displayName: 'Resource',
    name: 'resource',
    type: 'options',
    noDataExpression: true,
    default: 'tool',
    options: [
      { name: 'Resource', value: 'resource' },
      { name: 'Tool', value: 'tool' },
    ],
  },
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    default: 'call',
    displayOptions: { show: { resource: ['tool'] } },
    options: [
      { name: 'Call', value: 'call', action: 'Call a pinned tool', description: 'Call one reviewed tool' },
      {
        name: 'List',
        value: 'list',
        action: 'List tools',
        description: 'List the tools of the server with their pins',
      },
      {
        name: 'Review',
        value: 'review',
        action: 'Review tools',
        description: 'Show every tool in full, and what has changed since it was pinned, field by field',
      },
    ],
  },
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    default: 'read',
    displayOptions: { show: { resource: ['resource'] } },
    options: [
      {
        name: 'Read',
        value: 'read',
        action: 'Read a resource',
        description: 'Read one allowed resource of the server',
      },
    ],
  },
  { ...serverProperty, displayOptions: forTool('call') },
  { ...serverProperty, displayOptions: forResource('read') },
  {
    displayName: 'Tool',
    name: 'tool',
    type: 'resourceLocator',
    noDataExpression: true,
    default: { mode: 'list', value: '' },
    required: true,
    description: 'The tool to call, with its pin. The effect is a claim of the server.',
    displayOptions: forTool('call'),
    modes: [
      {
        displayName: 'From List',
        name: 'list',
        type: 'list',
        typeOptions: { searchListMethod: 'searchTools', searchable: true },
      },
      {
        displayName: 'By Pin',
        name: 'id',
        type: 'string',
        placeholder: 'e.g. find_order@sha256:0123…',
        validation: [
          {
            type: 'regex',
            properties: { regex: '^.+@sha256:[0-9a-f]{64}$', errorMessage: 'Must be name@sha256:hash' },
          },
        ],
      },
    ],
  },
  {
    displayName: 'Arguments',
    name: 'arguments',
    type: 'json',
    default: '{}',
    typeOptions: { rows: 5 },
    description:
      "Arguments of the tool as a JSON object. They are checked against the tool's own schema before anything is sent.",
    displayOptions: forTool('call'),
  },
  {
    displayName: 'Pinned Tool Names or IDs',
    name: 'tools',
    type: 'multiOptions',
    noDataExpression: true,
    typeOptions: { loadOptionsMethod: 'getTools' },
    default: [],
    description:
      'What to compare with, such as the tools of a client tool node. Empty: everything is shown as not pinned. Choose from the list, or write <code>name@sha256:hash</code>.',
    displayOptions: forTool('review'),
  },
  {
    displayName: 'URI',
    name: 'uri',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'e.g. wiki://start',
    description: 'The resource to read',
    displayOptions: forResource('read'),
  },
  {
    displayName: 'Allowed URIs',
    name: 'allowedUris',
    type: 'string',
    noDataExpression: true,
    typeOptions: { multipleValues: true, multipleValueButtonText: 'Add URI' },
    default: [],
    required: true,
    placeholder: 'e.g. wiki://{page}',
    description:
      'Resources that may be read: exact URIs, or templates in which <code>{name}</code> stands for one part of a path. Nothing listed means that nothing may be read.',
    displayOptions: forResource('read'),
  },
  optionsProperty(
    [
      'cataloguePin',
      'compareEveryCall',
      'listAgeSeconds',
      'responseBytes',
      'reviewedDescriptors',
      'timeoutSeconds',
    ],
    {
      resource: ['tool'],
      operation: ['call'],
    },
  ),
  optionsProperty(['responseBytes', 'reviewedDescriptors', 'timeoutSeconds'], {
    resource: ['tool'],
    operation: ['review'],
  }),
  optionsProperty(['responseBytes', 'timeoutSeconds'], { resource: ['tool'], operation: ['list'] }),
  optionsProperty(['responseBytes', 'timeoutSeconds'], { resource: ['resource'], operation: ['read'] }),
];
