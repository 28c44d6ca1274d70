import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { StoredOriginals } from '../../../src/store/originals.ts'
import { createRewrites } from '../../../src/store/sharing/rewrites.ts'
import type { FailureReason, Store, TouchItem } from '../../../src/store/store.ts'

const ORIGINAL_MS = 1_800_000
const SESSION_MS = 7_200_000
const IDENTITY = hash('sha256', 'the body', 'hex')
const OTHER = hash('sha256', 'another body', 'hex')
const DEPENDENCY = {
  session: 's',
  ref: IDENTITY.slice(0, 8),
  identity: IDENTITY,
  context: { hash: 0n },
}

/** Originals over a store in which every reference means the body that `state.means`. */
function originalsOver() {
  const touched: TouchItem[] = []
  const state = { now: 1_000_000, means: IDENTITY }
  const kept = () => ({ ok: true, hash: state.means, bytes: 1, expires_at: 0, created: false })
  const store = {
    put: () => Promise.reject(new Error('not asked')),
    purgeSession: () => Promise.reject(new Error('not asked')),
    get: async () => ({ ...kept(), body: Uint8Array.of(1), mediaType: 'text/plain' }),
    part: async () => ({ ...kept(), body: Uint8Array.of(1), mediaType: 'text/plain' }),
    touch: async (items: readonly TouchItem[]) => {
      touched.push(...items)
      return items.map(kept)
    },
  } as unknown as ConstructorParameters<typeof StoredOriginals>[0]
  const lifetimes = () => ({ originalMs: ORIGINAL_MS, sessionMs: SESSION_MS })
  return { originals: new StoredOriginals(store, lifetimes, () => state.now), touched, state }
}

describe('an answer that depends on a body', () => {
  const pin = (originals: StoredOriginals) =>
    originals.pinDependency(
      't',
      DEPENDENCY as unknown as Parameters<typeof originals.pinDependency>[1],
    )

  it('is refused if the reference means another one, each time that it asks', async () => {
    const { originals, touched, state } = originalsOver()
    state.means = OTHER
    for (const times of [1, 2]) {
      await expect(pin(originals)).rejects.toMatchObject({ code: 'ambiguous' })
      expect(touched).toHaveLength(times)
    }
  })

  it('is refused if the reference meant it a moment ago, and means another one now', async () => {
    const { originals, touched, state } = originalsOver()
    await pin(originals)
    state.means = OTHER
    await expect(pin(originals)).rejects.toMatchObject({ code: 'ambiguous' })
    expect(touched).toHaveLength(1)
  })

  it('keeps the body from eviction for as long as its session lives', async () => {
    const { originals, touched, state } = originalsOver()
    await pin(originals)
    const life = { ttlMs: SESSION_MS, pinUntil: state.now + SESSION_MS }
    expect(touched).toEqual([{ tenant: 't', session: 's', ref: DEPENDENCY.ref, ...life }])
  })
})

it.each(['whole', 'in part'])('a body that is fetched %s is kept from eviction', async how => {
  const { originals, touched, state } = originalsOver()
  const reference = { tenant: 't', ref: IDENTITY.slice(0, 24) }
  if (how === 'whole') await originals.fetch(reference, () => {})
  else await originals.fetchPart(reference, { kind: 'lines', from: 1, to: 1 } as never)
  const life = { ttlMs: ORIGINAL_MS, pinUntil: state.now + ORIGINAL_MS }
  expect(touched).toEqual([{ tenant: 't', ref: IDENTITY, ...life }])
})

describe('decisions on record', () => {
  const reading = (reason: FailureReason) => {
    const readRecord = async () => ({ ok: false, reason, detail: '' }) as const
    const store: Pick<Store, 'readRecord' | 'writeRecord'> = {
      readRecord,
      writeRecord: () => Promise.reject(new Error('not asked')),
    }
    const record = { key: 'a', bytes: Uint8Array.of(1), position: null }
    return createRewrites(store, () => 1_000).decide('t', [record], new Map())
  }

  it.each(['not_found', 'gone'] as const)('are none if the store says %s', async reason => {
    expect(await reading(reason)).toEqual({ found: {}, differs: false, others: 'left' })
  })

  it.each(['busy', 'full', 'ambiguous'] as const)(
    'are unknown, not none, if the store fails with %s',
    async reason => {
      expect((await reading(reason)).others).toBe('unheard')
    },
  )
})
