import type { INodeProperties } from 'n8n-workflow';
import { optionsProperty, serverProperty } from '../shared/allowlistClient/properties';

export const clientToolProperties: INodeProperties[] = [
  {
    displayName:
      'Connect this node to an AI Agent, or to an MCP Bearer Server Trigger. Choosing a tool is reviewing it: what the model sees of it is pinned, and a tool that changes is blocked until it is chosen again.',
    name: 'notice',
    type: 'notice',
    default: '',
  },
  serverProperty,
  {
    displayName: 'Tool Names or IDs',
    name: 'tools',
    type: 'multiOptions',
    noDataExpression: true,
    typeOptions: { loadOptionsMethod: 'getTools' },
    default: [],
    required: true,
    description:
      'The tools that the agent gets, each with its pin. Effects are claims of the server. Nothing chosen means no tool, and new tools of the server are never added. Choose from the list, or write <code>name@sha256:hash</code>.',
  },
  optionsProperty([
    'cataloguePin',
    'compareEveryCall',
    'listAgeSeconds',
    'namePrefix',
    'responseBytes',
    'resultCharacters',
    'reviewedDescriptors',
    'timeoutSeconds',
  ]),
];
