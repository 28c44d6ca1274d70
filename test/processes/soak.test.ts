import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { runs } from '../support/runs.ts'

const SOAK = fileURLToPath(new URL('../../bench/soak.ts', import.meta.url))
const REQUESTS = runs(4_000)
const LOSSES = 2

interface Soak {
  readonly statuses: Readonly<Record<string, number>>
  readonly heap_mib: readonly [number, number]
}

/** A short run of the soak; its exit code is about memory, of which only a long one can judge. */
function soak(): Promise<Soak> {
  const args = [SOAK, '--json', '--requests', String(REQUESTS), '--losses', String(LOSSES)]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env: withoutCorpus() }, (_, stdout, stderr) => {
      if (stdout === '') reject(new Error(stderr))
      else resolve(JSON.parse(stdout))
    })
  })
}

function withoutCorpus(): NodeJS.ProcessEnv {
  const { HAVERSACK_CORPUS: _, ...env } = process.env
  return env
}

it('answers mixed requests while threads are lost, on a heap that does not grow', async () => {
  const { statuses, heap_mib } = await soak()
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(REQUESTS + LOSSES)
  // Only what was wrong is refused, and only what was too slow fails: on a busy machine some more.
  expect(Object.keys(statuses).sort()).toEqual(['200', '400', '404', '422', '504'])
  expect(statuses['504']).toBeGreaterThanOrEqual(LOSSES)
  expect(statuses['504']).toBeLessThan(REQUESTS / 100)
  expect(heap_mib[1]).toBeLessThan(heap_mib[0] * 1.5 + 16)
})
