import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const SHOWN = Number(process.env['SHOWN'] ?? 10)

/** Prints the files that took the most processor time, and the seed of the random runs. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]) {
    const files = modules.map(toFile).toSorted((a, b) => b.cpu_s - a.cpu_s)
    const total_s = files.reduce((sum, file) => sum + file.cpu_s, 0)
    const slowest = files
      .slice(0, SHOWN)
      .map(({ path, cpu_s }) => `${cpu_s.toFixed(1).padStart(8)} s  ${path}\n`)
    const seed = process.env['TEST_SEED']
    process.stdout.write(
      `\nProcessor time of ${files.length} files: ${total_s.toFixed(1)} s. The slowest:\n${slowest.join('')}` +
        `Seed of the random runs: ${seed} (TEST_SEED=${seed} repeats them)\n`,
    )
  }
}

function toFile(module: TestModule) {
  return {
    path: relative(process.cwd(), module.moduleId),
    cpu_s: (module.meta().cpu_ms ?? 0) / 1_000,
  }
}
