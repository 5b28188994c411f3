/** @type {import('jest').Config} */
const common = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.[cm]?[jt]s$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022', keepClassNames: true },
        module: { type: 'commonjs' },
      },
    ],
  },
  // jose comes as ECMAScript modules only, which Jest cannot load before Node 24.9.
  transformIgnorePatterns: ['/node_modules/(?!jose/)'],
};

module.exports = {
  projects: [
    { ...common, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    {
      ...common,
      displayName: 'node',
      testMatch: ['<rootDir>/test/node/**/*.test.ts'],
      setupFiles: ['<rootDir>/test/node/environment.ts'],
      setupFilesAfterEnv: ['<rootDir>/test/node/shutdown.ts'],
    },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/globalSetup.ts',
      globalTeardown: '<rootDir>/test/support/globalTeardown.ts',
    },
  ],
  testTimeout: 120_000,
  // The suites of the e2e project share two hosts and this many of them run side by side.
  maxWorkers: 2,
};
