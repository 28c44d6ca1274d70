import { hash } from 'node:crypto'
import { createIndexMemory } from '../../src/core/sessions/index/layout.ts'
import { sessionKey } from '../../src/core/sessions/index/session-index.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { median, percentile } from '../support/statistics.ts'
import { eachSee, perCheck, perSee } from './measure.ts'
import {
  bareHash,
  haversack,
  installRivals,
  LRU_SIZE,
  lmdb,
  lruCache,
  type Rival,
} from './rivals.ts'

const ROUNDS = 15
const COUNT = 20_000
const IDENTITIES = Array.from({ length: 997 }, (_, i) => hash('sha256', `never recorded ${i}`))

function memoryFor(sessions: number): SharedArrayBuffer {
  return createIndexMemory({ maxSessions: sessions, maxEntries: sessions * LRU_SIZE })
}

/**
 * Hash, check and record of new bodies, and checks alone: one thread, all rivals in turn in each
 * round.
 */
export async function speed(folder: string): Promise<string> {
  installRivals(folder)
  const rows: (string | number)[][] = []
  for (const sessions of [100, 10_000, 100_000]) {
    const rivals = [
      bareHash(),
      haversack(memoryFor(sessions), 1, sessions),
      lruCache(folder, sessions),
      ...(sessions === 10_000 ? [lmdb(folder, sessions)] : []),
    ]
    rows.push(...(await compare(rivals, sessions)))
  }
  const header = ['sessions', 'what', 'hash + check + record, ns', 'of the bare hash', 'check, ns']
  return `${markdownTable(header, rows)}\n\n${keys()}`
}

async function compare(rivals: readonly Rival[], sessions: number) {
  const results = rivals.map(() => ({
    see: [] as number[],
    ratio: [] as number[],
    check: [] as number[],
  }))
  for (let round = 0; round < ROUNDS + 3; round++) {
    let bare = 0
    for (const [at, rival] of rivals.entries()) {
      const see = await perSee(rival, 4096, 1 + round * COUNT, COUNT)
      if (at === 0) bare = see
      const check = perCheck(rival, IDENTITIES, COUNT)
      // The first rounds are compiled in between.
      if (round < 3) continue
      results[at]!.see.push(see)
      results[at]!.ratio.push(see / bare)
      results[at]!.check.push(check)
    }
  }
  return results.map(({ see, ratio, check }, at) => {
    const checked = at === 0 ? '' : median(check)
    return [sessions, rivals[at]!.label, median(see), median(ratio), checked]
  })
}

function keys(): string {
  const runs = Array.from({ length: ROUNDS }, (_, round) => {
    const started = process.hrtime.bigint()
    for (let i = 0; i < COUNT; i++) sessionKey('tenant', `session ${round} ${i}`)
    return Number(process.hrtime.bigint() - started) / COUNT
  })
  return `Key of a session, once a request: ${Math.round(median(runs))} ns.`
}

/** Single operations on bodies of 4 and 32 KiB. */
export async function latency(): Promise<string> {
  const sessions = 10_000
  const rivals = [bareHash(), haversack(memoryFor(sessions), 1, sessions)]
  const rows: (string | number)[][] = []
  let first = 1
  for (const kib of [4, 32]) {
    const times = rivals.map(() => [] as number[])
    for (let round = 0; round < 8; round++) {
      for (const [at, rival] of rivals.entries()) {
        const taken = eachSee(rival, kib * 1024, first, 5000)
        if (round > 0) times[at]!.push(...taken)
        first += 5000
      }
    }
    for (const [at, all] of times.entries()) {
      const us = [0.5, 0.99, 0.999].map(q => percentile(all, q) / 1000)
      rows.push([`${kib} KiB`, rivals[at]!.label, ...us])
    }
  }
  return markdownTable(['body', 'what', 'p50 µs', 'p99 µs', 'p99.9 µs'], rows)
}
