import js from '@eslint/js';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const { ignores: _ignores, ...communityNodes } =
  n8nCommunityNodesPlugin.configs.recommendedWithoutN8nCloudSupport;

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'coverage'] },
  {
    files: ['**/*.ts'],
    extends: [js.configs.recommended, ...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // A name that starts with an underscore says that it is left out on purpose.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Untrusted text is cleaned of control characters in many places; the rule cannot tell those from slips.
      'no-control-regex': 'off',
      // Numbers in messages are as clear as String(number).
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  { ...communityNodes, files: ['nodes/**/*.ts', 'credentials/**/*.ts'] },
  {
    ...communityNodes,
    files: ['package.json'],
    languageOptions: { parser: tseslint.parser, parserOptions: { extraFileExtensions: ['.json'] } },
  },
  {
    files: ['core/**/*.ts'],
    rules: {
      // House rule 1: core/ knows nothing of n8n.
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['n8n-*', '**/nodes/**', '**/cli/**', '**/credentials/**'] }] },
      ],
    },
  },
  {
    files: ['nodes/**/*.ts', 'credentials/**/*.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ group: ['**/cli/**'] }] }] },
  },
  {
    files: ['cli/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ group: ['**/nodes/**', '**/credentials/**'] }] }],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    extends: [js.configs.recommended],
    languageOptions: { globals: globals.node },
    rules: { 'no-unused-vars': ['error', { varsIgnorePattern: '^_' }] },
  },
  prettier,
);
