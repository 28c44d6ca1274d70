import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admitRows, withdrawRows } from '../../../src/core/fingerprints/admit-rows.ts'
import { createCollector } from '../../../src/core/fingerprints/collect.ts'
import {
  DAY_MS,
  type Fingerprint,
  LEAST_SESSIONS,
} from '../../../src/core/fingerprints/fingerprint.ts'
import type { EndpointEvent } from '../../../src/core/fingerprints/from-events.ts'
import { FIELD, ROW } from '../../../src/core/fingerprints/packed-rows.ts'
import type { UploadRecord } from '../../../src/core/fingerprints/upload-record.ts'
import { row } from '../../unit/fingerprints/rows.ts'

/** Hours since the beginning; everything happens within the window. */
const HOURS = 480
const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)
const NOW = START + 25 * DAY_MS

/** A call of one member: when, and in which session. */
interface Call {
  readonly at: number
  readonly session: number
}

const callsOf = fc.array(
  fc.record({ at: fc.integer({ min: 0, max: HOURS }), session: fc.integer({ min: 0, max: 60 }) }),
  { minLength: 20, maxLength: 160 },
)

type Step =
  | { readonly kind: 'upload'; readonly spans: readonly (readonly [number, number])[] }
  | { readonly kind: 'withdraw' }

const edge = fc.integer({ min: 0, max: HOURS })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('upload' as const),
      spans: fc.array(fc.tuple(edge, edge), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const) }) },
)

/** What an honest member says of a stretch of its time: all calls in it. `null` where there are none. */
function rowOf(calls: readonly Call[], [from, to]: readonly [number, number]): Fingerprint | null {
  const inside = calls.filter(({ at }) => at >= Math.min(from, to) && at <= Math.max(from, to))
  if (inside.length === 0) return null
  const times = inside.map(({ at }) => START + at * HOUR)
  return row({
    call_count: inside.length,
    source_sessions: new Set(inside.map(({ session }) => session)).size,
    first_seen_ms: Math.min(...times),
    last_seen_ms: Math.max(...times),
  })
}

/** For each call, how many of the published rows have it. */
function published(calls: readonly Call[], { rows: { names, numbers } }: UploadRecord): number[] {
  return calls.map(({ at }) => {
    const time = START + at * HOUR
    return names.filter((_, index) => {
      const first = numbers[index * ROW + FIELD.first]!
      const last = numbers[index * ROW + FIELD.last]!
      return first <= time && time <= last
    }).length
  })
}

/**
 * The smallest groups of calls that sums and differences of all that was ever published can tell from others, by their sessions. Calls
 * that were always published together have the same factor in every combination of the figures, so that none has only a part of them.
 */
function groups(calls: readonly Call[], states: readonly (readonly number[])[]): number[] {
  const sessions = new Map<string, Set<number>>()
  calls.forEach(({ session }, index) => {
    const pattern = states.map(state => state[index]).join(' ')
    if (!/[1-9]/.test(pattern)) return
    const group = sessions.get(pattern) ?? new Set()
    sessions.set(pattern, group.add(session))
  })
  return [...sessions.values()].map(({ size }) => size)
}

function statesOf(calls: readonly Call[], steps: readonly Step[], admit = admitRows): number[][] {
  const states: number[][] = []
  let record: UploadRecord | null = null
  for (const each of steps) {
    if (each.kind === 'withdraw') record = record && withdrawRows(record, NOW)
    else {
      const rows = each.spans.map(span => rowOf(calls, span)).filter(found => found !== null)
      record = admit(rows, record, { member: 'ada', windowDays: 30, now: NOW }).record
    }
    if (record !== null) states.push(published(calls, record))
  }
  return states
}

describe('whoever reads a team after every change, and knows what all others have uploaded', () => {
  it('learns nothing of fewer than five sessions of a member, whatever it uploads and withdraws', () => {
    fc.assert(
      fc.property(callsOf, fc.array(step, { maxLength: 12 }), (calls, steps) => {
        for (const size of groups(calls, statesOf(calls, steps))) {
          expect(size).toBeGreaterThanOrEqual(LEAST_SESSIONS)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('would learn it if a later upload simply took the place of an earlier one', () => {
    const forgetful: typeof admitRows = (rows, _, terms) => admitRows(rows, null, terms)
    const found = fc.check(
      fc.property(callsOf, fc.array(step, { maxLength: 12 }), (calls, steps) =>
        groups(calls, statesOf(calls, steps, forgetful)).every(size => size >= LEAST_SESSIONS),
      ),
      { numRuns: 300 },
    )
    expect(found.failed).toBe(true)
  })
})

describe('spans of one’s own events', () => {
  it('are apart, and have five sessions each that no earlier one has, however often they are built', () => {
    const events = callsOf.map(calls =>
      calls
        .map(
          ({ at, session }): EndpointEvent => ({
            endpoint_class: 'git_log',
            session_hash: String(session).padStart(16, 'a'),
            response_chars: 10,
            shape: 'prose',
            inner_formats: [],
            ts_ms: START + at * HOUR,
            sample_rate_applied: 1,
          }),
        )
        .sort((a, b) => a.ts_ms - b.ts_ms),
    )
    fc.assert(
      fc.property(events, fc.array(edge, { maxLength: 10 }), (all, builds) => {
        let spans: Fingerprint[] = []
        for (const hour of builds.sort((a, b) => a - b)) {
          const before = spans
          const collector = createCollector(before)
          for (const event of all) if (event.ts_ms <= START + hour * HOUR) collector.add(event)
          spans = collector.spans()
          expect(spans.slice(0, before.length)).toEqual(before)
        }
        const seen = new Set<string>()
        for (const [index, { first_seen_ms, last_seen_ms, ...span }] of spans.entries()) {
          expect(first_seen_ms).toBeGreaterThan(spans[index - 1]?.last_seen_ms ?? 0)
          const inside = all.filter(({ ts_ms }) => ts_ms >= first_seen_ms && ts_ms <= last_seen_ms)
          const own = new Set(inside.map(each => each.session_hash)).difference(seen)
          for (const session of own) seen.add(session)
          expect(span.source_sessions).toBeLessThanOrEqual(own.size)
          expect(own.size).toBeGreaterThanOrEqual(LEAST_SESSIONS)
          expect(span.call_count).toBe(inside.length)
        }
      }),
      { numRuns: 200 },
    )
  })
})
