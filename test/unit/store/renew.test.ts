import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { StoredOriginals } from '../../../src/store/originals.ts'
import type { FailureReason, Store, TouchItem } from '../../../src/store/store.ts'

const LIFE_MS = 1_800_000
const HASH = hash('sha256', 'x', 'hex').slice(0, 24)

/** Originals over a store that only answers touches: with the failure that `fails` says, if any. */
function originalsOver() {
  const touched: TouchItem[][] = []
  const state: { now: number; fails: FailureReason | null } = { now: 1_000_000, fails: null }
  const nothing = () => Promise.reject(new Error('not asked'))
  const store: ConstructorParameters<typeof StoredOriginals>[0] = {
    put: async items =>
      items.map(({ body }) => {
        const kept = { hash: hash('sha256', body, 'hex'), bytes: body.length, created: true }
        return { ok: true, ...kept, expires_at: state.now + LIFE_MS }
      }),
    get: nothing,
    part: nothing,
    purgeSession: nothing,
    touch: (async (items: readonly TouchItem[]) => {
      touched.push([...items])
      return items.map(({ ref, ttlMs = 0 }) =>
        state.fails === null
          ? { ok: true, hash: ref, bytes: 1, expires_at: state.now + ttlMs, created: false }
          : { ok: false, reason: state.fails, detail: '' },
      )
    }) as Store['touch'],
  }
  const lifetimes = () => ({ originalMs: LIFE_MS, sessionMs: LIFE_MS })
  return { originals: new StoredOriginals(store, lifetimes, () => state.now), touched, state }
}

describe('originals behind markers that were sent before', () => {
  it('are not touched within a minute after they were kept', async () => {
    const { originals, touched, state } = originalsOver()
    const text = { bytes: new TextEncoder().encode('x'), media_type: 'text/plain' }
    await originals.keep('t', text)
    expect([await originals.renew('t', [HASH]), touched]).toEqual(['stay', []])
    state.now += 60_000
    await originals.renew('t', [HASH])
    expect(touched).toHaveLength(1)
  })

  it('live on, and are not touched again within a minute', async () => {
    const { originals, touched, state } = originalsOver()
    expect(await originals.renew('t', [HASH])).toBe('stay')
    const item = { tenant: 't', ref: HASH, ttlMs: LIFE_MS, pinUntil: state.now + LIFE_MS }
    expect(touched).toEqual([[item]])
    expect(await originals.renew('t', [HASH])).toBe('stay')
    expect(touched).toHaveLength(1)
    state.now += 60_000
    await originals.renew('t', [HASH])
    expect(touched).toHaveLength(2)
  })

  it('are each tenant’s own', async () => {
    const { originals, touched } = originalsOver()
    await originals.renew('one', [HASH])
    await originals.renew('other', [HASH])
    expect(touched).toHaveLength(2)
  })

  it.each(['not_found', 'gone'] as const)('are missing where the store says %s', async reason => {
    const { originals, state } = originalsOver()
    await originals.renew('t', [HASH])
    state.now += 60_000
    state.fails = reason
    expect(await originals.renew('t', [HASH])).toBe('gone')
  })

  it('are there for a while where the store does not answer but has promised it', async () => {
    const { originals, state } = originalsOver()
    await originals.renew('t', [HASH])
    state.fails = 'lost'
    state.now += 60_000
    expect(await originals.renew('t', [HASH])).toBe('stay')
    expect(await originals.renew('t', [HASH, 'f'.repeat(24)])).toBe('unheard')
    state.now += LIFE_MS / 2
    expect(await originals.renew('t', [HASH])).toBe('unheard')
  })

  it('need no store where there are none', async () => {
    const { originals, touched } = originalsOver()
    expect(await originals.renew('t', [])).toBe('stay')
    expect(touched).toEqual([])
  })
})
