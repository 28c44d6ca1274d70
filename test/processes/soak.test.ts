import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runs } from '../support/runs.ts'
import { memory } from '../support/service-memory.ts'

const REQUESTS = runs(4_000)
const LOSSES = 2

it('answers mixed requests while threads are lost, on a heap that does not grow', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-soak-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // A short run of the bench, whose verdict on memory needs a long one.
  const { statuses, heap } = await memory(folder, REQUESTS, LOSSES)
  expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(REQUESTS + LOSSES)
  // Only what was wrong is refused, and only what was too slow fails: on a busy machine some more.
  expect(Object.keys(statuses).sort()).toEqual(['200', '400', '404', '422', '504'])
  expect(statuses['504']).toBeGreaterThanOrEqual(LOSSES)
  expect(statuses['504']).toBeLessThan(LOSSES + REQUESTS / 100)
  expect(heap[1]).toBeLessThan(heap[0] * 1.5 + 16)
})
