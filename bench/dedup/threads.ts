import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createIndexMemory } from '../../src/core/dedup/index/layout.ts'
import { stormOfThreads, stormWithKills } from '../../test/integration/dedup/index/storm.ts'
import { median } from '../machine.ts'
import { markdown } from '../store/measure.ts'
import { installRivals } from './rivals.ts'
import type { SeeRound, SeeSetup } from './worker-see.ts'

const ROUNDS = 21
const COUNT = 20_000
const SESSIONS = 10_000

/** Two threads against one: operations a second of both together, in turn in each round. */
export async function threads(folder: string): Promise<string> {
  installRivals(folder)
  const memory = createIndexMemory({ maxSessions: SESSIONS, maxEntries: SESSIONS * 5 })
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
  const header = ['what', 'operation', 'one thread, a second', 'two threads', 'ratio', 'from', 'to']
  return markdown(header, rows)
}

async function start(setup: SeeSetup): Promise<Worker> {
  const worker = new Worker(new URL('worker-see.ts', import.meta.url), { workerData: setup })
  await once(worker, 'message')
  return worker
}

async function compare(workers: readonly Worker[], what: SeeRound['what']): Promise<number[]> {
  let first = 1
  const run = async (worker: Worker): Promise<number> => {
    worker.postMessage({ what, first, count: COUNT } satisfies SeeRound)
    first += COUNT
    const [ms] = (await once(worker, 'message')) as [number]
    return ms
  }
  const [one, two, ratio]: number[][] = [[], [], []]
  for (let round = 0; round < ROUNDS + 3; round++) {
    const alone = COUNT / (await run(workers[round % 2]!))
    const together = (2 * COUNT) / Math.max(...(await Promise.all(workers.map(run))))
    if (round < 3) continue
    one!.push(alone * 1000)
    two!.push(together * 1000)
    ratio!.push(together / alone)
  }
  return [one!, two!, ratio!].map(median).concat(Math.min(...ratio!), Math.max(...ratio!))
}

/** Four threads that must lose nothing, and threads that are terminated; throws where anything is false. */
export async function storms(operations: number, kills: number): Promise<string> {
  const started = performance.now()
  const all = await stormOfThreads(4, operations)
  const seconds = (performance.now() - started) / 1000
  const killed = await stormWithKills(kills, 500)
  const row = (label: string, facts: object) => [label, JSON.stringify(facts)]
  return markdown(
    ['run', 'counts'],
    [
      row(`4 threads × ${operations}, ${seconds.toFixed(1)} s`, all),
      row(`${kills} threads terminated`, killed),
    ],
  )
}
