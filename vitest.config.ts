import { defineConfig } from 'vitest/config'

/**
 * Projects by what a test may touch: see CONTRIBUTING.md, "Tests". Their limits are far above what they take, since other work on the
 * machine is no failure.
 */
export default defineConfig({
  test: {
    // The default leaves one processor of two idle.
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'workers/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90, branches: 85 },
    },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'property',
          include: ['test/property/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
