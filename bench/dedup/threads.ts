import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createIndexMemory } from '../../src/core/sessions/index/layout.ts'
import { stormOfThreads, stormWithKills } from '../../test/integration/dedup/index/storm.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { median } from '../support/statistics.ts'
import { installRivals, LRU_SIZE } from './rivals.ts'
import type { SeeRound, SeeSetup, SeeTimes } from './worker-see.ts'

const ROUNDS = 21
const COUNT = 20_000
const SESSIONS = 10_000

/** Two threads against one: operations a second of both together, in turn in each round. */
export async function threads(folder: string): Promise<string> {
  installRivals(folder)
  const memory = createIndexMemory({ maxSessions: SESSIONS, maxEntries: SESSIONS * LRU_SIZE })
  const rows: (string | number)[][] = []
  for (const [rival, what] of [
    ['bare', 'see'],
    ['haversack', 'see'],
    ['haversack', 'check'],
    ['lmdb', 'see'],
  ] as const) {
    const data = join(folder, rival === 'lmdb' ? '' : 'unused')
    const setup = { rival, memory, folder: data, sessions: SESSIONS }
    const workers = await Promise.all([1, 2].map(owner => start({ ...setup, owner })))
    rows.push([rival, what, ...(await compare(workers, what))])
    await Promise.all(workers.map(worker => worker.terminate()))
  }
  const header = [
    'what',
    'operation',
    'one thread, a second',
    'two threads',
    'ratio',
    'ratio by processor time',
  ]
  return markdownTable(header, rows)
}

async function start(setup: SeeSetup): Promise<Worker> {
  const worker = new Worker(new URL('worker-see.ts', import.meta.url), { workerData: setup })
  await once(worker, 'message')
  return worker
}

async function compare(workers: readonly Worker[], what: SeeRound['what']): Promise<number[]> {
  let first = 1
  const run = async (worker: Worker): Promise<SeeTimes> => {
    worker.postMessage({ what, first, count: COUNT } satisfies SeeRound)
    first += COUNT
    const [times] = (await once(worker, 'message')) as [SeeTimes]
    return times
  }
  const [one, two, wall, processor]: number[][] = [[], [], [], []]
  for (let round = 0; round < ROUNDS + 3; round++) {
    const alone = await run(workers[round % 2]!)
    const both = await Promise.all(workers.map(run))
    if (round < 3) continue
    const together = Math.max(...both.map(times => times.wall))
    one!.push((1000 * COUNT) / alone.wall)
    two!.push((2000 * COUNT) / together)
    wall!.push((2 * alone.wall) / together)
    processor!.push((4 * alone.processor) / (both[0]!.processor + both[1]!.processor))
  }
  return [one!, two!, wall!, processor!].map(median)
}

/**
 * Four threads that must lose nothing, and threads that are terminated; throws where anything is
 * false.
 */
export async function storms(operations: number, kills: number): Promise<string> {
  const started = performance.now()
  const all = await stormOfThreads(4, operations)
  const seconds = (performance.now() - started) / 1000
  const killed = await stormWithKills(kills, 500)
  const row = (label: string, facts: object) => [label, JSON.stringify(facts)]
  return markdownTable(
    ['run', 'counts'],
    [
      row(`4 threads × ${operations}, ${seconds.toFixed(1)} s`, all),
      row(`${kills} threads terminated`, killed),
    ],
  )
}
