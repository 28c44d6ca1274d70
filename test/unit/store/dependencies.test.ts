import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Dependency } from '../../../src/core/sessions/turn/call-memory.ts'
import { StoredOriginals } from '../../../src/store/originals.ts'
import type { Reference, Store, TouchItem } from '../../../src/store/store.ts'

const ORIGINAL_MS = 1_800_000
const SESSION_MS = 7_200_000
const IDENTITY = hash('sha256', 'x', 'hex')
const OTHER = hash('sha256', 'y', 'hex')
const DEPENDENCY = { session: 's', ref: IDENTITY.slice(0, 8), identity: IDENTITY } as Dependency

/** Originals over a store in which every reference means the body `state.hash`. */
function originalsOver() {
  const touched: TouchItem[] = []
  const state = { now: 1_000_000, hash: IDENTITY, parts: 0 }
  const about = () => ({ hash: state.hash, bytes: 1, expires_at: state.now })
  const whole = { media_type: 'text/plain', created_at: 0 }
  const content = new Uint8Array(1)
  const store = {
    put: () => Promise.reject(new Error('not asked')),
    purgeSession: () => Promise.reject(new Error('not asked')),
    get: async () => ({ ok: true, ...about(), ...whole, body: content }),
    part: async (_: Reference) => {
      state.parts++
      const part = { kind: 'bytes', content, first: 0, last: 0, total: 1 } as const
      return { ok: true, ...about(), ...whole, part }
    },
    touch: async (items: readonly TouchItem[]) => {
      touched.push(...items)
      return items.map(() => ({ ok: true, ...about(), created: false }) as const)
    },
  } satisfies Partial<Record<keyof Store, unknown>>
  const lifetimes = () => ({ originalMs: ORIGINAL_MS, sessionMs: SESSION_MS })
  const originals = new StoredOriginals(
    store as unknown as ConstructorParameters<typeof StoredOriginals>[0],
    lifetimes,
    () => state.now,
  )
  return { originals, touched, state }
}

describe('a reference that an answer depends on', () => {
  it('is pinned for as long as the session, and again only when that is due', async () => {
    const { originals, touched, state } = originalsOver()
    await originals.pinDependency('t', DEPENDENCY)
    const { session, ref } = DEPENDENCY
    const pinUntil = state.now + SESSION_MS
    expect(touched).toEqual([{ tenant: 't', session, ref, ttlMs: SESSION_MS, pinUntil }])
    await originals.pinDependency('t', DEPENDENCY)
    expect([touched.length, state.parts]).toEqual([1, 1])
  })

  it('is refused if it means another body: when it is pinned, and when it is only looked up', async () => {
    const { originals, touched, state } = originalsOver()
    state.hash = OTHER
    await expect(originals.pinDependency('t', DEPENDENCY)).rejects.toMatchObject({
      code: 'ambiguous',
    })
    state.hash = IDENTITY
    await originals.pinDependency('t', DEPENDENCY)
    // What meant another body was not taken for done.
    expect(touched).toHaveLength(2)
    state.hash = OTHER
    await expect(originals.pinDependency('t', DEPENDENCY)).rejects.toMatchObject({
      code: 'ambiguous',
    })
    expect(state.parts).toBe(1)
  })
})

describe('an original that is fetched', () => {
  it.each(['whole', 'part'] as const)('as a %s lives on and is pinned', async how => {
    const { originals, touched, state } = originalsOver()
    const reference = { tenant: 't', ref: IDENTITY }
    const range = { kind: 'bytes', range: { first: 0, last: 0 } } as const
    if (how === 'whole') await originals.fetch(reference, () => {})
    else await originals.fetchPart(reference, range)
    const pinUntil = state.now + ORIGINAL_MS
    expect(touched).toEqual([{ tenant: 't', ref: IDENTITY, ttlMs: ORIGINAL_MS, pinUntil }])
  })
})
