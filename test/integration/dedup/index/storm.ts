import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { attachIndex } from '../../../../src/core/sessions/index/attach.ts'
import { createIndexMemory, type IndexSize } from '../../../../src/core/sessions/index/layout.ts'
import { indexUse, releaseOwner } from '../../../../src/core/sessions/index/owners.ts'
import { auditIndex } from '../../../property/core/sessions/index/audit.ts'
import { bundledWorker } from '../../../support/bundled-worker.ts'
import { type StormReport, type StormSetup, stormKeys } from './worker-storm.ts'

/** Owner of the calling thread; workers have 1, 2, … */
const MAIN = 2 ** 20

function start(setup: StormSetup): Worker {
  return new Worker(bundledWorker(new URL('worker-storm.ts', import.meta.url)), {
    workerData: setup,
  })
}

async function report(worker: Worker): Promise<StormReport> {
  const [message] = (await once(worker, 'message')) as [StormReport]
  return message
}

/**
 * Threads on the same sessions at once, none of which is lost.
 * @returns what they did, after it was compared with what the index says
 * @throws Error if a result was lost or counted twice
 */
export async function stormOfThreads(threads: number, operations: number) {
  const sessions = 40
  const size = { maxSessions: 2 * sessions, maxEntries: 10 * sessions, shards: 4 }
  const memory = createIndexMemory(size)
  const control = new SharedArrayBuffer(4 * (threads + 1))
  const setup = { memory, control, operations, sessions, destructive: false }
  const workers = Array.from({ length: threads }, (_, i) => start({ ...setup, owner: i + 1 }))
  const reports = await Promise.all(workers.map(report))
  auditIndex(memory)
  const index = attachIndex(memory, { owner: MAIN })
  for (const [i, key] of stormKeys(sessions).entries()) {
    const summary = index.summary(key)
    if (summary === null) throw new Error(`session ${i} is lost`)
    const { results, baseline_tokens } = summary
    const given = reports.reduce((sum, { sequences }) => sum + sequences[i]!, 0)
    // Every number from 1 to `results` was given out once.
    if (given !== (results * (results + 1)) / 2) throw new Error(`numbers of session ${i}`)
    if (baseline_tokens !== 3 * results) throw new Error(`counters of session ${i}`)
  }
  const sum = (field: 'results' | 'matches' | 'recorded') =>
    reports.reduce((total, each) => total + each[field], 0)
  return { results: sum('results'), matches: sum('matches'), recorded: sum('recorded') }
}

export interface KillReport {
  readonly kills: number
  /** How many of these ended with a lock. */
  readonly heldLock: number
  readonly results: number
  readonly evicted: number
}

/**
 * Terminates threads at points that nobody chose, while others go on, and replaces them.
 * @throws Error if a thread saw something false, or the index is not whole at the end
 */
export async function stormWithKills(kills: number, between: number): Promise<KillReport> {
  const threads = 4
  // Too small for all sessions, so that evictions are among what is interrupted.
  const size: IndexSize = { maxSessions: 60, maxEntries: 200, shards: 2 }
  const memory = createIndexMemory(size)
  const control = new SharedArrayBuffer(4 * (threads + kills + 1))
  const done = new Int32Array(control)
  const setup = { memory, control, operations: Infinity, sessions: 40, destructive: true }
  let [owner, heldLock] = [0, 0]
  const living = new Map<number, Worker>()
  const failures: unknown[] = []
  const replace = () => {
    const worker = start({ ...setup, owner: ++owner })
    worker.on('error', error => failures.push(error))
    living.set(owner, worker)
  }
  /** Until each of these threads has done `between` operations more. */
  async function progress(owners: readonly number[]): Promise<void> {
    const goals = owners.map(owner => Atomics.load(done, owner) + between)
    while (owners.some((owner, i) => Atomics.load(done, owner) < goals[i]!)) {
      if (failures.length > 0) throw failures[0]
      await setTimeout(1)
    }
  }
  while (owner < threads) replace()
  for (let kill = 0; kill < kills; kill++) {
    const [victim, worker] = [...living][(kill * 7) % threads]!
    living.delete(victim)
    // All others get on, whatever the last victim had; then this one is somewhere in its work.
    await progress([...living.keys(), victim])
    const ended = once(worker, 'exit')
    await worker.terminate()
    await ended
    heldLock += releaseOwner(memory, victim)
    replace()
  }
  await progress([...living.keys()])
  const reports = Promise.all([...living.values()].map(report))
  Atomics.store(done, 0, 1)
  await reports
  auditIndex(memory)
  const results = done.subarray(1).reduce((sum, count) => sum + count, 0)
  return { kills, heldLock, results, evicted: indexUse(memory).evicted }
}
