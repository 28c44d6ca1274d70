import { hash } from 'node:crypto'
import { attachIndex } from '../../src/core/sessions/index/attach.ts'
import { type NewEntry, sessionKey } from '../../src/core/sessions/index/session-index.ts'

/** Entries of a session, as by default. */
const LRU_SIZE = 16

function entryOf(identity: string, operation: number): NewEntry {
  return {
    identity,
    kind: 'file-read',
    toolHash: 1,
    pathHash: 2,
    callHash: operation | 0,
    bytes: 4096,
    timeMs: operation,
    answer: 'full',
    of: 0,
  }
}

/**
 * Fills the index of so many sessions, and gives what looks for a body that none of them has:
 * nanoseconds of the thread's own processor time for one of `count` checks.
 */
export function filledIndex(memory: SharedArrayBuffer, sessions: number) {
  const index = attachIndex(memory, { owner: 1 })
  const keys = Array.from({ length: sessions }, (_, i) => sessionKey('tenant', `session ${i}`))
  const turns = keys.map(key => index.begin(key, { timeMs: 0 }))
  // Sessions in an order that no cache line follows.
  const placeOf = (operation: number) => (operation * 7919) % sessions
  for (let at = 0; at < sessions * LRU_SIZE; at++) {
    const identity = hash('sha256', `fill ${at}`)
    const turn = index.begin(keys[placeOf(at)]!, { timeMs: at, callHash: at | 0, identity })
    if (turn.match !== null) throw new Error('a new body was seen before')
    const ticket = index.record(turn, entryOf(identity, at), { lruSize: LRU_SIZE })
    if (ticket === null || !index.commit(ticket, true)) throw new Error('not recorded')
  }
  return (identities: readonly string[], count: number): number => {
    const started = process.threadCpuUsage()
    for (let at = 0; at < count; at++) {
      const found = index.check(turns[placeOf(at)]!, identities[at % identities.length]!)
      if (found !== null) throw new Error('never recorded')
    }
    const { user, system } = process.threadCpuUsage(started)
    return ((user + system) * 1000) / count
  }
}
