import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from '../../src/lab/bill/statistics.ts'
import { startProcess } from '../../test/support/service-process.ts'
import { cpuUsOf, residentMib } from '../support/machine.ts'
import { markdownTable } from '../support/markdown-table.ts'

const OWN_MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/**
 * Milliseconds from the start of the process to the first 200 of /readyz, its processor time by
 * then and its resident memory: with empty caches, and with caches that an earlier start filled.
 * The compile cache is the one that the service opens by itself. The files themselves are in the
 * system's page cache in both cases.
 * @param other what is started instead of this version; empty: this one
 */
export async function starts(folder: string, rounds: number, other: string) {
  const main = other === '' ? OWN_MAIN : resolve(other)
  const filled = join(folder, 'filled')
  const cases = [
    { label: 'first', target: 1_300, caches: (round: number) => join(folder, `start-${round}`) },
    { label: 'warm', target: 600, caches: () => filled },
  ].map(each => ({ ...each, found: [] as number[][] }))
  for (let round = 0; round <= rounds; round++) {
    for (const { caches, found } of cases) {
      const start = await startOnce(main, caches(round))
      // The first round fills the caches.
      if (round > 0) found.push(start)
    }
  }
  const rows = cases.map(({ label, target, found }) => {
    return [label, ...[0, 1, 2].map(i => Math.round(median(found.map(each => each[i]!)))), target]
  })
  const header = ['start to ready', 'ms', 'processor ms', 'resident MiB', 'target ≤']
  return { text: markdownTable(header, rows) }
}

/** Starts the service with these caches, waits until it is ready, and ends it. */
async function startOnce(main: string, caches: string): Promise<number[]> {
  mkdirSync(caches, { recursive: true })
  const started = performance.now()
  const { url, child, exited } = await startProcess({
    main,
    stderr: 2,
    env: {
      ...{ HAVERSACK_CONFIG: undefined, HAVERSACK_WORKERS: undefined },
      ...{ NODE_COMPILE_CACHE: undefined, TMPDIR: caches },
      HAVERSACK_CACHE_DIR: join(caches, 'cache'),
      HAVERSACK_DATA_DIR: join(caches, 'data'),
    },
  })
  try {
    const { status } = await fetch(`${url}/readyz`)
    if (status !== 200) throw new Error(`/readyz answers ${status}`)
    const ms = performance.now() - started
    const pid = child.pid!
    return [ms, cpuUsOf([{ pid }]) / 1000, residentMib(pid)]
  } finally {
    // By its signal, so that it writes its compile cache.
    child.kill('SIGTERM')
    await exited
  }
}
