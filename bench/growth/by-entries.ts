import { createCipheriv, hash } from 'node:crypto'
import { join } from 'node:path'
import { encodeOperation } from '../../src/core/operations/encode.ts'
import { attachIndex } from '../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../src/core/sessions/index/layout.ts'
import { type NewEntry, sessionKey } from '../../src/core/sessions/index/session-index.ts'
import { createTokenCounters } from '../../src/core/tokens/counters.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { createAdmission } from '../../src/pool/admission.ts'
import { loadVocabularies } from '../../src/runtime/vocabulary.ts'
import { openSqliteStore } from '../../src/store/sqlite/client.ts'
import { residentMib } from '../support/machine.ts'
import { type Curve, costOf, type Point, SHAPES } from './measure.ts'

const FLAT = 0.1
const DECADES = [1, 10, 100, 1e3, 1e4, 1e5, 1e6]
const CHECKS = 200_000
const ROUNDS = 5
const IDENTITIES = Array.from({ length: 997 }, (_, i) => hash('sha256', `not recorded ${i}`))

const upTo = (most: number, least = 1) => DECADES.filter(each => each >= least && each <= most)

/** The check of a body that is new, and the memory of the index, by sessions with some entries. */
export function checksBySessions(most: number): { readonly time: Curve; readonly room: Curve } {
  const times: Point[] = []
  const rooms: Point[] = []
  for (const sessions of upTo(most)) {
    const before = residentMib(process.pid)
    const memory = createIndexMemory({ maxSessions: sessions, maxEntries: sessions * 4 })
    const perCheck = filledIndex(memory, sessions)
    const room = (residentMib(process.pid) - before) * 2 ** 20
    const costs = Array.from({ length: ROUNDS }, () => perCheck(IDENTITIES, CHECKS))
    times.push([sessions, Math.min(...costs)])
    if (sessions >= 1e4) rooms.push([sessions, room])
  }
  return {
    time: { name: 'session check', by: 'sessions', goal: FLAT, points: times },
    room: { name: 'session index', by: 'sessions', goal: 1.1, points: rooms },
  }
}

const BODY_BYTES = 1024
const DAY_MS = 86_400_000
const AT_ONCE = 64

/** Bytes that nothing compresses, the same for the same seed. */
function noise(size: number, seed: string): Uint8Array<ArrayBuffer> {
  const key = hash('sha256', seed, 'buffer')
  const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
  return new Uint8Array(bytes)
}

/** A put and a get of 1 KiB, by the bodies that the store holds. */
export async function storeByEntries(folder: string, most: number): Promise<readonly Curve[]> {
  const store = await openSqliteStore({
    folder: join(folder, 'store'),
    maxBytes: 4 * 2 ** 30,
    onEvent: event => process.stderr.write(`${JSON.stringify(event)}\n`),
  })
  const puts: Point[] = []
  const gets: Point[] = []
  let held = 0
  const body = (i: number) => noise(BODY_BYTES, `entry ${i}`)
  const putNext = async () => {
    const items = Array.from({ length: AT_ONCE }, () => {
      return { tenant: 't', body: body(held++), mediaType: 'text/plain', ttlMs: DAY_MS }
    })
    const results = await store.put(items)
    if (!results.every(({ ok }) => ok)) throw new Error('not kept')
  }
  for (const entries of upTo(most, 1e3)) {
    while (held < entries) await putNext()
    puts.push([entries, (await costOf(putNext)) / AT_ONCE])
    const get = async (i: number) => {
      const ref = hash('sha256', body((i * 7919) % entries)).slice(0, 24)
      const result = await store.get({ tenant: 't', ref })
      if (!result.ok) throw new Error(result.detail)
    }
    gets.push([entries, await costOf(get)])
  }
  await store.close()
  return [
    { name: 'store put', by: 'bodies', goal: FLAT, points: puts },
    { name: 'store get', by: 'bodies', goal: FLAT, points: gets },
  ]
}

const HELD = 10_000

/** Entering and leaving the queue, and an encode of 2 KB, if each request is of another tenant. */
export async function requestsByTenants(most: number): Promise<readonly Curve[]> {
  const entering: Point[] = []
  const encoding: Point[] = []
  const content = SHAPES[0]!.make(2_000)
  const counters = createTokenCounters(loadVocabularies())
  const context = { ...createLocalContext(), counters }
  for (const tenants of upTo(most)) {
    const holders = Array.from({ length: tenants }, (_, i) => {
      return { tenant: `tenant ${i}`, keyId: `key ${i}`, maxConcurrent: HELD }
    })
    const admission = createAdmission({
      limits: () => ({ maxJobs: 2 * HELD, maxBytes: 2 ** 40, maxWaitMs: 1000 }),
      waitMs: () => 0,
      tenants: () => tenants,
    })
    // Each tenant has a request in the queue already.
    for (const holder of holders) admission.enter(holder, 0)
    const enter = (i: number) => admission.enter(holders[i % tenants]!, 2_000, 'encode').leave()
    entering.push([tenants, await costOf(enter)])
    const run = (i: number) => {
      counters.serve(holders[i % tenants]!.tenant)
      encodeOperation.run({ content }, context)
    }
    encoding.push([tenants, await costOf(run)])
  }
  return [
    { name: 'admission', by: 'tenants', goal: FLAT, points: entering },
    { name: 'encode in turn', by: 'tenants', goal: FLAT, points: encoding },
  ]
}

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
function filledIndex(memory: SharedArrayBuffer, sessions: number) {
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
