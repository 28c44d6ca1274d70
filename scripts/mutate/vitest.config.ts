import { defineConfig } from 'vitest/config'

/**
 * One project, of which areas.ts names the files. A busy machine must not look like a noticed
 * change.
 */
export default defineConfig({
  test: {
    include: ['test/{unit,property,integration,faults}/**/*.test.ts'],
    expect: { poll: { timeout: 10_000, interval: 10 } },
    setupFiles: ['scripts/mutate/seeded-properties.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
