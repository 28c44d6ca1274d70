import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { SlowestFiles } from './test/support/slowest-files.ts'

const RESULTS = process.env['TEST_RESULTS']

// Workers and the processes that tests start inherit these.
process.env['TEST_SEED'] ??= String(randomInt(2 ** 31))
// The data of the user who runs the tests stays alone.
process.env['XDG_DATA_HOME'] = resolve('node_modules/.cache/haversack-tests-data')
// Half of a start is compiling. Coverage is not exact with functions that come from a cache.
if (process.argv.includes('--coverage')) delete process.env['NODE_COMPILE_CACHE']
else process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/haversack-tests')

/**
 * For what hangs, and for what takes quadratic time: many times what a test takes on a busy machine.
 */
const TIMEOUT_MS = {
  unit: 60_000,
  property: 300_000,
  integration: 300_000,
  faults: 300_000,
  contract: 300_000,
  processes: 300_000,
  release: 600_000,
}

const STARTS_SERVICES = ['quick', 'integration', 'faults', 'contract', 'processes', 'release']

/** What `npm test` runs in the same few processes, by `--project=quick`. */
const QUICK = ['unit', 'property', 'integration']

/** Projects by what a test may touch: see CONTRIBUTING.md, "Tests". */
function project([name, testTimeout]: [string, number]): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      include: (name === 'quick' ? QUICK : [name]).map(folder => `test/${folder}/**/*.test.ts`),
      setupFiles: ['test/support/cpu-time.ts', 'test/support/random-runs.ts'],
      globalSetup: [
        ...(STARTS_SERVICES.includes(name) ? ['test/support/bundle-workers.ts'] : []),
        ...(name === 'quick' ? ['test/support/memory-folder.ts'] : []),
      ],
      // No test here mocks a module: files share what they import, which Node loads itself.
      isolate: false,
      pool: 'forks',
      experimental: { viteModuleRunner: false, nodeLoader: false },
      expect: { poll: { timeout: 3_600_000, interval: 10 } },
      testTimeout,
      hookTimeout: 300_000,
    },
  }
}

/** Files that mock a module, or need modules of their own that nothing has used before. */
const ISOLATED: TestProjectInlineConfiguration = {
  test: {
    name: 'isolated',
    include: ['test/isolated/**/*.test.ts'],
    experimental: { viteModuleRunner: false },
    testTimeout: 60_000,
  },
}

/**
 * Each project starts processes of its own, which import and compile everything again. So `npm test`
 * has one project for all that needs no fresh modules.
 */
const projects = process.argv.includes('--project=quick')
  ? [project(['quick', TIMEOUT_MS.integration])]
  : Object.entries(TIMEOUT_MS).map(project)

export default defineConfig({
  test: {
    // Half of the processors again: files wait for sockets, disks and clocks.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    reporters: [
      'default',
      new SlowestFiles(),
      ...(RESULTS === undefined ? [] : [['json', { outputFile: RESULTS }] as ['json', object]]),
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'workers/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90, branches: 85 },
    },
    projects: [...projects, ISOLATED],
  },
})
