import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admitRows, withdrawRows } from '../../../../src/core/fingerprints/admit-rows.ts'
import type { EndpointEvent } from '../../../../src/core/fingerprints/event-sums.ts'
import {
  DAY_MS,
  type Fingerprint,
  LEAST_SESSIONS,
} from '../../../../src/core/fingerprints/fingerprint.ts'
import { bucketOf } from '../../../../src/core/fingerprints/histograms.ts'
import type { UploadRecord } from '../../../../src/core/fingerprints/upload-record.ts'
import { runs } from '../../../support/runs.ts'
import { collectorOf, row } from '../../../unit/fingerprints/rows.ts'

/** Longer than a window, so that windows slide and spans are forgotten. */
const HOURS = 50 * 24
const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)

/** A call of one member: when, in which session, and how many hours later it becomes known. */
interface Call {
  readonly at: number
  readonly session: number
  readonly late: number
}

const callsOf = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: HOURS }),
    session: fc.integer({ min: 0, max: 80 }),
    late: fc.oneof(
      { weight: 1, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 400 }) },
    ),
  }),
  { minLength: 60, maxLength: 250, size: 'max' },
)

/**
 * What is done after some hours: by the member, or in its name by somebody else who has its key.
 */
type Step = { readonly after: number } & (
  | { readonly kind: 'stretches'; readonly between: readonly (readonly [number, number])[] }
  | { readonly kind: 'window'; readonly days: number }
  | { readonly kind: 'forged'; readonly from: number; readonly days: number; readonly more: number }
  | { readonly kind: 'withdraw' }
)

const after = fc.integer({ min: 0, max: 72 })
const back = fc.integer({ min: 0, max: 31 * 24 })
/** Few, so that the same stretch comes again, and again with more in it. */
const edge = fc.constantFrom(0, 8, 16, 24, 40).map(day => day * 24)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('stretches' as const),
      after,
      between: fc.array(fc.tuple(edge, edge), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('window' as const),
      after,
      days: fc.constantFrom(1, 3, 7, 30),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('forged' as const),
      after,
      from: back,
      days: fc.integer({ min: 0, max: 10 }),
      more: fc.constantFrom(5, 6, 1_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), after }) },
)
const steps = fc.array(step, { maxLength: 25, size: 'max' })

/**
 * What an honest member says of a stretch of time: all calls in it that it knows of. `null` if
 * there are none.
 */
function rowOf(
  calls: readonly Call[],
  now: number,
  [from, to]: readonly [number, number],
  idOf: (inside: readonly number[]) => number,
): Fingerprint | null {
  const [first, last] = [Math.min(from, to), Math.max(from, to)]
  const inside = [...calls.keys()].filter(index => {
    const { at, late } = calls[index]!
    return at + late <= now && at >= first && at <= last
  })
  if (inside.length === 0) return null
  const times = inside.map(index => START + calls[index]!.at * HOUR)
  return row({
    call_count: inside.length,
    source_sessions: new Set(inside.map(index => calls[index]!.session)).size,
    first_seen_ms: Math.min(...times),
    last_seen_ms: Math.max(...times),
    avg_response_chars: idOf(inside),
  })
}

/** The calls of each row that was ever published, where the member itself said it. */
function published(calls: readonly Call[], all: readonly Step[], admit = admitRows): number[][] {
  const contents: number[][] = [[]]
  const ids = new Map<string, number>()
  const idOf = (inside: readonly number[]) => {
    const key = inside.join()
    const id = ids.get(key) ?? contents.length
    if (id === contents.length) contents.push([...inside])
    ids.set(key, id)
    return id
  }
  const seen = new Set<number>()
  let record: UploadRecord | null = null
  let now = 24
  for (const each of all) {
    now += each.after
    const terms = { member: 'ada', windowDays: 30, now: START + now * HOUR }
    if (each.kind === 'withdraw') record = record && withdrawRows(record, terms.now)
    else record = admit(rowsOf(each, now), record, terms).record
    for (const { row: shown } of record?.rows ?? []) seen.add(shown.avg_response_chars)
  }
  return [...seen].map(id => contents[id]!)

  function rowsOf(each: Exclude<Step, { kind: 'withdraw' }>, hour: number): Fingerprint[] {
    if (each.kind === 'forged') {
      const first_seen_ms = START + (hour - each.from) * HOUR
      const last_seen_ms = Math.min(first_seen_ms + each.days * DAY_MS, START + hour * HOUR)
      const source_sessions = each.more
      const forged = { first_seen_ms, last_seen_ms, source_sessions, avg_response_chars: 0 }
      return [row({ ...forged, call_count: source_sessions })]
    }
    const stretches =
      each.kind === 'window' ? [[hour - each.days * 24, hour] as const] : each.between
    return stretches.map(each => rowOf(calls, hour, each, idOf)).filter(found => found !== null)
  }
}

/**
 * The smallest groups of calls that sums and differences of all that was ever published can tell
 * from others, by their sessions, if each row could be seen by itself: calls that are in the same
 * rows have the same factor in every combination of their figures, so that none has only a part of
 * them.
 */
function groups(calls: readonly Call[], rows: readonly (readonly number[])[]): number[] {
  const sessions = new Map<string, Set<number>>()
  calls.forEach(({ session }, index) => {
    const pattern = rows.map(inside => (inside.includes(index) ? 1 : 0)).join('')
    if (!pattern.includes('1')) return
    const group = sessions.get(pattern) ?? new Set()
    sessions.set(pattern, group.add(session))
  })
  return [...sessions.values()].map(({ size }) => size)
}

describe('whoever reads a team after every change, and knows what all others have uploaded', () => {
  it('learns nothing of fewer than five sessions of a member, whatever is uploaded and withdrawn in its name', () => {
    fc.assert(
      fc.property(callsOf, steps, (calls, all) => {
        for (const size of groups(calls, published(calls, all))) {
          expect(size).toBeGreaterThanOrEqual(LEAST_SESSIONS)
        }
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('would learn it if a later upload simply took the place of an earlier one', () => {
    const forgetful: typeof admitRows = (rows, _, terms) => admitRows(rows, null, terms)
    const found = fc.check(
      fc.property(callsOf, steps, (calls, all) =>
        groups(calls, published(calls, all, forgetful)).every(size => size >= LEAST_SESSIONS),
      ),
      { numRuns: runs(300) },
    )
    expect(found.failed).toBe(true)
  })
})

describe('spans of one’s own events', () => {
  it('are apart, and have five sessions each that no earlier one has, however often they are built', () => {
    const events = callsOf.map(calls =>
      calls
        .map(({ at, session, late }): EndpointEvent & { readonly known: number } => ({
          endpoint_class: 'git_log',
          session_hash: String(session).padStart(16, 'a'),
          response_chars: 10 ** (session % 5),
          depth: session % 7,
          ...(at % 3 === 0 ? { elided_tokens_saved: 9, needed_of: ['git_log'] } : {}),
          shape: 'prose',
          inner_formats: late > 0 ? ['url'] : [],
          ts_ms: START + at * HOUR,
          sample_rate_applied: 1,
          known: at + late,
        }))
        .sort((a, b) => a.ts_ms - b.ts_ms),
    )
    const builds = fc.array(fc.integer({ min: 0, max: HOURS }), { maxLength: 12 })
    fc.assert(
      fc.property(events, builds, (all, hours) => {
        const spans: Fingerprint[] = []
        const contents: EndpointEvent[][] = []
        for (const hour of hours.sort((a, b) => a - b)) {
          const known = all.filter(event => event.known <= hour)
          const collector = collectorOf(spans, START + hour * HOUR, known)
          for (const span of collector.closable()) {
            const { first_seen_ms: first, last_seen_ms: last } = span
            expect([first % DAY_MS, last % DAY_MS]).toEqual([0, 0])
            expect(last + DAY_MS).toBeLessThanOrEqual(START + hour * HOUR)
            expect(first).toBeGreaterThan(spans.at(-1)?.last_seen_ms ?? 0)
            contents.push(known.filter(({ ts_ms }) => ts_ms >= first && ts_ms < last + DAY_MS))
            spans.push(span)
          }
        }
        const counted = new Set<string>()
        for (const [index, span] of spans.entries()) {
          const inside = contents[index]!
          expect(span.call_count).toBe(inside.length)
          const own = new Set(inside.map(each => each.session_hash))
          const fresh = own.difference(counted)
          for (const session of own) counted.add(session)
          expect(span.source_sessions).toBeLessThanOrEqual(fresh.size)
          expect(fresh.size).toBeGreaterThanOrEqual(LEAST_SESSIONS)
          const urls = inside.filter(each => each.inner_formats.includes('url'))
          const isNamed = span.inner_formats_top3.includes('url')
          const ofUrls = new Set(urls.map(each => each.session_hash)).size
          expect(isNamed).toBe(ofUrls >= LEAST_SESSIONS)
          for (const name of ['response_chars', 'depth'] as const) {
            for (const [bucket, part] of (span[name] ?? []).entries()) {
              const having = inside.filter(each => bucketOf(name, each[name]!) === bucket)
              const size = new Set(having.map(each => each.session_hash)).size
              expect(part === 0 || size >= LEAST_SESSIONS).toBe(true)
            }
          }
          const ofNeeds = inside.filter(each => each.needed_of !== undefined)
          const hasNeeds = new Set(ofNeeds.map(each => each.session_hash)).size >= LEAST_SESSIONS
          expect(span.needed !== undefined).toBe(hasNeeds)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
