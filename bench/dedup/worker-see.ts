import { parentPort, workerData } from 'node:worker_threads'
import { perCheck, perSee } from './measure.ts'
import { bareHash, haversack, lmdb, type Rival } from './rivals.ts'

/** A thread that runs operations of one rival when asked to, and says how long they took. */
export interface SeeSetup {
  readonly rival: 'bare' | 'haversack' | 'lmdb'
  readonly memory: SharedArrayBuffer
  readonly folder: string
  readonly owner: number
  readonly sessions: number
}

/** Asked by message; answered with `SeeTimes`. */
export interface SeeRound {
  readonly what: 'see' | 'check'
  readonly first: number
  readonly count: number
}

/** Milliseconds of a round: as the clock went, and of the thread's processor time. */
export interface SeeTimes {
  readonly wall: number
  readonly processor: number
}

function create({ rival, memory, folder, owner, sessions }: SeeSetup): Rival {
  if (rival === 'bare') return bareHash()
  return rival === 'lmdb' ? lmdb(folder, sessions) : haversack(memory, owner, sessions)
}

const rival = create(workerData as SeeSetup)
const identities = Array.from({ length: 997 }, (_, i) => `${i}`.padStart(64, '0'))

parentPort?.on('message', async ({ what, first, count }: SeeRound) => {
  const started = performance.now()
  const ns =
    what === 'see' ? await perSee(rival, 4096, first, count) : perCheck(rival, identities, count)
  const times: SeeTimes = { wall: performance.now() - started, processor: (ns * count) / 1e6 }
  parentPort?.postMessage(times)
})
parentPort?.postMessage('ready')
