import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['scripts/build-kernels.mjs', 'test/storage/postgres/server.ts'],
    setupFiles: ['test/seed.ts'],
    // Commands that tests run leave nothing in the home of who tests.
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
    // Property tests run thousands of cases, and a laptop or a CI machine may be busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/kernels/assembly/**', 'src/kernels/module.ts', 'src/kernels/scan-module.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
});
