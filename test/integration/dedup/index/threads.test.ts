import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { attachIndex } from '../../../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../../../src/core/sessions/index/layout.ts'
import { releaseOwner } from '../../../../src/core/sessions/index/owners.ts'
import { sessionKey } from '../../../../src/core/sessions/index/session-index.ts'
import { bundledWorker } from '../../../support/bundled-worker.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { stormOfThreads, stormWithKills } from './storm.ts'

/** What each thread does, and how many are terminated. */
const OPERATIONS = FULL_RUNS ? 40_000 : 5_000
const KILLS = FULL_RUNS ? 12 : 2

test('four threads lose nothing, and see nothing torn or foreign', async () => {
  const { results, matches, recorded } = await stormOfThreads(4, OPERATIONS)
  expect(results).toBe(4 * OPERATIONS)
  expect(matches).toBeGreaterThan(OPERATIONS / 8)
  expect(recorded).toBe(results - matches)
})

test('threads that are terminated anywhere neither block others nor leave anything false', async () => {
  const { kills, results, evicted } = await stormWithKills(KILLS, 500)
  expect(kills).toBe(KILLS)
  expect(results).toBeGreaterThan(KILLS * 500 * 4)
  expect(evicted).toBeGreaterThan(0)
})

test('a thread waits for a lock until its dead owner is released', async () => {
  const memory = createIndexMemory({ maxSessions: 4, maxEntries: 4, shards: 1 })
  const key = sessionKey('t', 's')
  attachIndex(memory, { owner: 3 }).begin(key, { timeMs: 1 })
  const run = (role: 'holder' | 'waiter', owner: number) =>
    new Worker(bundledWorker(new URL('worker-lock.ts', import.meta.url)), {
      workerData: { memory, role, owner },
    })
  const holder = run('holder', 1)
  await once(holder, 'message')
  const waiter = run('waiter', 2)
  const [ready] = await once(waiter, 'message')
  expect(ready).toBe('about to wait')
  const answer = once(waiter, 'message')
  await holder.terminate()
  expect(releaseOwner(memory, 1)).toBe(1)
  expect(await answer).toEqual([2])
})
