import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { attachIndex } from '../../src/core/sessions/index/attach.ts'
import { type NewEntry, sessionKey } from '../../src/core/sessions/index/session-index.ts'

/**
 * Something that says whether a session has seen a body, and remembers it. Operations are numbered.
 */
export interface Rival {
  readonly label: string
  /** Hashes the body, looks for it, and records it; a new body each time. */
  see(body: Uint8Array, operation: number): void
  /** Looks for an identity that is not there. */
  check(identity: string, operation: number): boolean
  /** Resolves when all that was recorded is there. */
  settled(): Promise<unknown>
}

/** Entries of a session, as by default. */
export const LRU_SIZE = 16

/** Sessions in an order that no cache line follows. */
function sessionOf(operation: number, sessions: number): number {
  return (operation * 7919) % sessions
}

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
 * Records as many bodies as all sessions hold, so that each that follows makes another one leave.
 */
function fill(sessions: number, record: (identity: string, operation: number) => void): void {
  for (let i = 0; i < sessions * LRU_SIZE; i++) record(hash('sha256', `fill ${i}`), i)
}

/** Only what all others do too, the same call of `crypto.hash`. */
export function bareHash(): Rival {
  return {
    label: 'bare crypto.hash',
    see(body) {
      if (hash('sha256', body).length !== 64) throw new Error('no digest')
    },
    check: () => false,
    settled: async () => {},
  }
}

/** The index: begin (which looks for the body and for a retry), record, commit as durable. */
export function haversack(memory: SharedArrayBuffer, owner: number, sessions: number): Rival {
  const index = attachIndex(memory, { owner })
  const keys = Array.from({ length: sessions }, (_, i) => sessionKey('tenant', `session ${i}`))
  const turns = keys.map(key => index.begin(key, { timeMs: 0 }))
  function record(identity: string, operation: number): void {
    const key = keys[sessionOf(operation, sessions)]!
    const facts = { timeMs: operation, callHash: operation | 0, identity }
    const turn = index.begin(key, facts)
    if (turn.match !== null) throw new Error('a new body was seen before')
    const ticket = index.record(turn, entryOf(identity, operation), { lruSize: LRU_SIZE })
    if (ticket === null || !index.commit(ticket, true)) throw new Error('not recorded')
  }
  if (owner === 1) fill(sessions, record)
  return {
    label: 'Haversack',
    see: (body, operation) => record(hash('sha256', body), operation),
    check: (identity, operation) =>
      index.check(turns[sessionOf(operation, sessions)]!, identity) !== null,
    settled: async () => {},
  }
}

interface Packages {
  readonly lmdb: {
    open(options: { path: string; noSync: boolean }): {
      put(key: string, value: unknown): Promise<boolean>
      get(key: string): unknown
    }
  }
  readonly lru: {
    LRUCache: new (options: {
      max: number
    }) => { get(key: string): unknown; set(key: string, value: unknown): unknown }
  }
}

/**
 * Installs the rivals in a folder, for the bench alone. @throws Error if the registry cannot be
 * reached
 */
export function installRivals(folder: string): void {
  const packages = ['lmdb@3.5.1', 'lru-cache@11.5.3']
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages]
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('the rivals could not be installed')
}

function load<Name extends keyof Packages>(folder: string, name: Name): Packages[Name] {
  const require = createRequire(join(folder, 'package.json'))
  return require(name === 'lru' ? 'lru-cache' : name) as Packages[Name]
}

/** One cache for all sessions, with as many entries as the index has; one thread only. */
export function lruCache(folder: string, sessions: number): Rival {
  const cache = new (load(folder, 'lru').LRUCache)({ max: sessions * LRU_SIZE })
  const place = (identity: string, operation: number) =>
    `${sessionOf(operation, sessions)}:${identity}`
  function record(identity: string, operation: number): void {
    const key = place(identity, operation)
    if (cache.get(key) !== undefined) throw new Error('a new body was seen before')
    cache.set(key, entryOf(identity, operation))
  }
  fill(sessions, record)
  return {
    label: 'lru-cache',
    see: (body, operation) => record(hash('sha256', body), operation),
    check: (identity, operation) => cache.get(place(identity, operation)) !== undefined,
    settled: async () => {},
  }
}

/** A memory-mapped database that all threads open, never flushed; nothing leaves it. */
export function lmdb(folder: string, sessions: number): Rival {
  const database = load(folder, 'lmdb').open({ path: join(folder, 'data.mdb'), noSync: true })
  const place = (identity: string, operation: number) =>
    `${sessionOf(operation, sessions)}:${identity}`
  let last: Promise<unknown> = Promise.resolve()
  return {
    label: 'lmdb',
    see(body, operation) {
      const identity = hash('sha256', body)
      const key = place(identity, operation)
      if (database.get(key) !== undefined) throw new Error('a new body was seen before')
      last = database.put(key, entryOf(identity, operation))
    },
    check: (identity, operation) => database.get(place(identity, operation)) !== undefined,
    settled: () => last,
  }
}
