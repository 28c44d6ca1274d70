import { describe, expect, it } from 'vitest'
import type { FreshRecord } from '../../../src/core/contract/operation-result.ts'
import { createSharedRewrites } from '../../../src/store/sharing/shared-rewrites.ts'
import type {
  ClaimedRecord,
  FailureReason,
  RecordClaim,
  RecordClaims,
  StoredRecord,
} from '../../../src/store/store.ts'
import { fail } from '../../../src/store/values/failure.ts'

const LONG_MS = 600_000
const bytes = (text: string) => new TextEncoder().encode(text)
const NONE = new Map<string, boolean>()

function record(key: string, more: Partial<FreshRecord> = {}): FreshRecord {
  return { key, bytes: bytes(`${key} here`), position: null, ...more }
}
const earlier = (key: string) => record(key, { isEarlier: true })

interface State {
  /** What fails, call by call; after that nothing does. */
  readonly failures?: readonly FailureReason[]
  readonly recorded?: Readonly<Record<string, string>>
  readonly awayMs?: number
  readonly waitMs?: number
  readonly outageMs?: number
  /** Called before each claim, with its number. */
  onCall?(call: number): boolean
}

/** Decisions on a store in this state, with what was claimed: `a`, or `a?` for a question. */
function rewritesOn(state: State) {
  const { failures = [], recorded = {}, awayMs = 0, waitMs = LONG_MS, onCall } = state
  const calls: string[][] = []
  const overruled: string[] = []
  let isDoubtful = onCall !== undefined
  const there = new Map(Object.entries(recorded))
  function judge({ key, as, value, known }: RecordClaim, isHeld: boolean): ClaimedRecord {
    const found = there.get(key)
    if (found !== undefined) {
      if (known === 1 || found === new TextDecoder().decode(value)) return { is: 'same' }
      const stored: StoredRecord = { value: bytes(found), version: 1, expires_at: null }
      return { is: 'other', record: stored }
    }
    return { is: as === 'question' || isHeld ? 'absent' : 'mine' }
  }
  const claims: RecordClaims = {
    generation: 'one',
    awayMs,
    isRefusing: false,
    get isDoubtful() {
      return isDoubtful
    },
    onReplaced: () => {},
    async claim(_tenant, claimed) {
      calls.push(claimed.map(({ key, as }) => (as === 'question' ? `${key}?` : key)))
      if (onCall !== undefined) isDoubtful = onCall(calls.length)
      const failure = failures[calls.length - 1]
      if (failure !== undefined) return fail(failure, 'so it is')
      const isHeld = claimed.some(each => judge(each, false).is === 'other')
      return { ok: true, isHeld, records: claimed.map(each => judge(each, isHeld)) }
    },
  }
  const readRecord = async () => fail('unavailable', 'away')
  const rewrites = createSharedRewrites({
    ...{ store: { claims, readRecord }, waitMs, outageMs: state.outageMs ?? waitMs },
    ttlMs: () => LONG_MS,
    onOverruled: key => void overruled.push(key),
  })
  return { rewrites, calls, overruled, recorded: there }
}

describe('decisions while the store is away', () => {
  it('wait for it, whether results are new or not', async () => {
    for (const each of [record('a'), earlier('a')]) {
      const { rewrites, calls } = rewritesOn({ failures: ['unavailable', 'busy'] })
      expect((await rewrites.decide('t', [each], NONE)).others).toBe('recorded')
      expect(calls).toEqual([['a'], ['a'], ['a']])
    }
  })

  it('do not wait on new results once it has been away for so long', async () => {
    const away = { failures: ['unavailable'] as const, awayMs: LONG_MS }
    const { rewrites, calls } = rewritesOn(away)
    expect((await rewrites.decide('t', [record('a')], NONE)).others).toBe('unheard')
    expect(calls).toHaveLength(1)
    // What another process may have sent is worth a longer wait, but not any.
    const old = rewritesOn(away)
    expect((await old.rewrites.decide('t', [earlier('a')], NONE)).others).toBe('unheard')
  })

  it('end when their turn does, and count as attempted then', async () => {
    const failures = Array.from({ length: 1_000 }, () => 'unavailable' as const)
    const { rewrites, calls } = rewritesOn({ failures })
    const bounds = { untilMs: Number.POSITIVE_INFINITY, isOver: () => calls.length > 2 }
    const decided = await rewrites.decide('t', [earlier('a')], NONE, bounds)
    expect(decided.others).toBe('unheard')
    expect(calls).toHaveLength(3)
  })

  it('are replaced by what was sent, whichever of several attempts was recorded', async () => {
    const away = { failures: ['unavailable', 'unavailable'] as const, waitMs: 0 }
    const { rewrites, recorded, calls, overruled } = rewritesOn(away)
    const decisionOf = (text: string) => [record('a', { bytes: bytes(text) })]
    for (const attempt of ['with a marker', 'whole'])
      await rewrites.decide('t', decisionOf(attempt), NONE)
    // The store had heard the first one.
    recorded.set('a', 'with a marker')
    await rewrites.record('t', decisionOf('whole'))
    expect(overruled).toEqual([])
    expect(calls).toHaveLength(4)
  })

  it('do not wait for a store that takes nothing more', async () => {
    for (const reason of ['full', 'quota', 'failed'] as const) {
      const { rewrites, calls } = rewritesOn({ failures: [reason] })
      expect((await rewrites.decide('t', [earlier('a')], NONE)).others).toBe('unheard')
      expect(calls).toHaveLength(1)
    }
  })
})

describe('decisions on earlier results while another process may not have recorded its own', () => {
  it('are asked for, and made once there is no doubt', async () => {
    const { rewrites, calls } = rewritesOn({ onCall: call => call < 3 })
    const decided = await rewrites.decide('t', [earlier('a'), record('b')], NONE)
    expect(decided.others).toBe('recorded')
    expect(calls).toEqual([['a?'], ['a?'], ['a?'], ['a', 'b']])
  })

  it('are those of that process as soon as it has recorded them', async () => {
    const { rewrites, calls, recorded } = rewritesOn({
      onCall(call) {
        if (call === 2) recorded.set('a', 'theirs')
        return true
      },
    })
    const decided = await rewrites.decide('t', [earlier('a'), record('b')], NONE)
    expect(decided).toMatchObject({ differs: true, found: { a: bytes('theirs') } })
    expect(calls).toEqual([['a?'], ['a?']])
  })

  it('are unsure in the end, and then made as that process had to', async () => {
    const doubt = { onCall: () => true, waitMs: 0, recorded: { a: 'a here' } }
    const { rewrites, calls } = rewritesOn(doubt)
    const all = [earlier('a'), earlier('b'), record('c')]
    const decided = await rewrites.decide('t', all, NONE)
    expect(decided).toMatchObject({
      differs: false,
      others: 'unsure',
      found: { a: bytes('a here') },
    })
    expect(calls.flat()).not.toContain('b')
    const asked = new Map([...['a', 'b']].map(key => [key, false] as const))
    expect((await rewrites.decide('t', all, asked)).others).toBe('recorded')
    expect(calls.at(-1)).toEqual(['a', 'b', 'c'])
  })

  it('are not asked for if all is new', async () => {
    const { rewrites, calls } = rewritesOn({ onCall: () => true })
    expect((await rewrites.decide('t', [record('a')], NONE)).others).toBe('recorded')
    expect(calls).toEqual([['a']])
  })
})
