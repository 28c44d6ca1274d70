import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ladderOf } from '../../../bench/bill/ladder.ts'
import { ARMS } from '../../../bench/bill/play-arms.ts'
import { readUsage } from '../../../bench/bill/read-usage.ts'
import { simulate } from '../../../bench/bill/simulate.ts'
import { countNeeds, newTally } from '../../../bench/recall/needs.ts'
import { account, NO_CHANGES, totalOf } from '../../../src/lab/bill/account.ts'
import { factorsOf, type PlacedSession, placeResults } from '../../../src/lab/bill/place-results.ts'
import { countTokens } from '../../../src/lab/bill/play.ts'
import type { BillResult } from '../../../src/lab/bill/session.ts'
import { summarize } from '../../../src/lab/bill/summarize.ts'

/** 100 tokens of o200k. */
const TEXT = ' word'.repeat(100).trim()

/** A line of the usage: a prompt of so many tokens read and written, and the texts that came. */
function lineOf(call: number, more: object = {}): string {
  const ts = 1_000 + 10 * call
  return JSON.stringify({
    ...{ session: 's', call, ts, end: ts + 1, model: 'm', input: 0, cache_read: 0 },
    ...{ cache_write: 0, cache_write_1h: 0, output: 7, results: [], user_texts: 0 },
    ...{ o200k: { thinking: 0, text: 0, calls: 0, user: 0 }, calls: 0, compacted: false },
    ...more,
  })
}

const result: BillResult = { tool: 'Read', args: {}, text: TEXT, isError: false }

/** Three calls: 1,000 tokens, then a result of 100 with each, all cached for five minutes. */
const LINES = [
  lineOf(0, { cache_write: 1_000 }),
  lineOf(1, { cache_read: 1_000, cache_write: 100, results: [[100, 'a']] }),
  lineOf(2, { cache_read: 1_100, cache_write: 100, results: [[100, 'b']] }),
]

function sessionOf(lines: readonly string[] = LINES): PlacedSession {
  const [session] = readUsage(lines.join('\n'), () => result)
  return placeResults(session!, new Map([['m', { factor: 1, samples: 9 }]]), countTokens)
}

describe('the usage of recorded sessions', () => {
  it.each([
    ['line 2: call 1 of s is missing', [lineOf(0), lineOf(2)]],
    ['line 1: call 0 of s is missing', [lineOf(3)]],
    ['line 2: call 0 comes twice', [lineOf(0), lineOf(0)]],
    ['line 3: call 0 is late', [lineOf(0), lineOf(1), lineOf(0)]],
    ['line 2: call 1 is before the last one', [lineOf(0), lineOf(1, { ts: 9 })]],
    ['line 1: more is written for an hour than in all', [lineOf(0, { cache_write_1h: 1 })]],
    ['line 2: line: ', [lineOf(0), '{']],
    ['line 1: cache_read: ', [lineOf(0, { cache_read: -1 })]],
  ])('is refused: %s', (reason, lines) => {
    expect(() => readUsage(lines.join('\n'), () => null)).toThrow(reason)
  })

  it('names each line that is refused', () => {
    expect(() => readUsage(['{', lineOf(0), '}'].join('\n'), () => null)).toThrow(
      /line 1: .*\nline 3: /,
    )
  })
})

describe('the bill', () => {
  it('is the usage to the token without an arm, whatever is cached', () => {
    const tokens = fc.nat(100_000)
    const call = fc.record({ input: tokens, cache_read: tokens, write: tokens, output: tokens })
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 20 }), fc.boolean(), (all, isHour) => {
        const lines = all.map(({ write, ...each }, at) =>
          lineOf(at, { ...each, cache_write: write, cache_write_1h: isHour ? write : 0 }),
        )
        const price = isHour ? 2 : 1.25
        const paid = all.reduce((sum, { input, cache_read, write, output }) => {
          return sum + input + 0.1 * cache_read + price * write + 5 * output
        }, 0)
        expect(totalOf(account(sessionOf(lines), NO_CHANGES))).toBeCloseTo(paid, 4)
      }),
    )
  })

  it('has what was saved at the price of its place: written once, then read', () => {
    const changes = [{ call: 1, result: 0, sent: 40, isAgain: false }]
    const before = account(sessionOf(), NO_CHANGES)
    const after = account(sessionOf(), { changes, fetches: [] })
    expect(before.write - after.write).toBeCloseTo(60 * 1.25)
    expect(before.read - after.read).toBeCloseTo(60 * 0.1)
    expect(ladderOf(sessionOf(), { changes, fetches: [] }).at(-1)!.saved).toBeCloseTo(81)
  })

  it('has what comes after a change again, without what that saves', () => {
    const changes = [{ call: 2, result: 0, sent: 10, isAgain: true }]
    const after = account(sessionOf(), { changes, fetches: [] })
    // The result stands at the end of what is read: its 10 tokens are written again.
    expect(after.rewrite).toBeCloseTo(10 * 1.25)
    expect(after.read).toBeCloseTo(0.1 * (1_000 + 1_000))
    expect(totalOf(after) - totalOf(account(sessionOf(), NO_CHANGES))).toBeCloseTo(12.5 - 10)
  })

  it('has one more call for a text that was needed, and the text from then on', () => {
    const changes = [{ call: 1, result: 0, sent: 0, isAgain: false }]
    const { fetch } = account(sessionOf(), { changes, fetches: [{ call: 1, result: 0 }] })
    expect(fetch).toBeCloseTo(0.1 * 1_000 + 5 * 150 + 1.25 * 100 + 1.25 * 100)
  })

  it('tells a miss after a pause from another one', () => {
    const pause = { ts: 5_000, end: 5_001 }
    const lost = (more: object) => [LINES[0]!, lineOf(1, { cache_write: 1_100, ...more })]
    expect(account(sessionOf(lost({})), NO_CHANGES)).toMatchObject({ miss: 1_250, pause: 0 })
    expect(account(sessionOf(lost(pause)), NO_CHANGES)).toMatchObject({ miss: 0, pause: 1_250 })
  })

  it('takes what was saved off a miss, which is free as a read in a bound', () => {
    const lines = [...LINES.slice(0, 2), lineOf(2, { cache_write: 1_200, results: [[100, 'b']] })]
    const session = sessionOf(lines)
    const arm = { changes: [{ call: 1, result: 0, sent: 40, isAgain: false }], fetches: [] }
    expect(account(session, arm).miss).toBeCloseTo(1.25 * (1_100 - 60))
    expect(account(session, arm, { freeMisses: 'all' }).miss).toBeCloseTo(0.1 * (1_100 - 60))
    // Without what expires, with it, with what stands before the results, and with output.
    const ladder = ladderOf(session, arm)
    expect(ladder.map(({ whole }) => whole)).toEqual([260, 375, 2_975, 2_975, 2_975 + 5 * 21])
    expect(ladder.map(({ saved }) => Math.round(saved))).toEqual([81, 150, 150, 150, 150])
  })

  it('has packed text at its own factor, and never dearer than raw text', () => {
    const written = (sent: number, packed: number) => {
      const changes = [{ call: 1, result: 0, sent, isAgain: false }]
      return account(sessionOf(), { changes, fetches: [] }, { packed }).write
    }
    const raw = account(sessionOf(), NO_CHANGES).write
    expect(raw - written(40, 1.5)).toBeCloseTo(1.25 * 40)
    expect(raw - written(90, 1.5)).toBe(0)
  })

  it('of a simulated session has an eighth for output, and reads what it wrote', () => {
    const step = { ...result, session: 's', epoch: 0 }
    const { calls } = simulate({ name: 's', steps: [step, step] })
    const [first, second] = calls
    expect(second!.read).toBe(first!.write)
    for (const { read, write, output } of calls)
      expect((5 * output) / (0.1 * read + 1.25 * write + 5 * output)).toBeCloseTo(0.125, 3)
  })

  it('saves nothing with an arm that changes nothing, in every resample', () => {
    const pairs = [3, 5, 900].map(direct => ({ direct, arm: direct }))
    expect(summarize(pairs)).toMatchObject({ saved: 0, low: 0, high: 0, dearer: 0, worst: 0 })
  })
})

describe('arms', () => {
  const many = Array.from({ length: 40 }, (_, at) =>
    at === 0
      ? lineOf(0, { cache_write: 1_000 })
      : lineOf(at, { cache_read: 900 + 100 * at, cache_write: 100, results: [[100, `t${at}`]] }),
  )

  it('mask all but the ten newest at each turn, or in steps of twenty', () => {
    const masked = (name: string) => {
      const { changes } = ARMS[name]!(sessionOf(many))
      return [changes.length, new Set(changes.map(({ call }) => call)).size]
    }
    expect(masked('masking_each_turn')).toEqual([29, 29])
    expect(masked('masking_in_steps')).toEqual([20, 1])
  })

  it('send packed texts as they were, to the end of a context', () => {
    const rows = JSON.stringify(Array.from({ length: 30 }, (_, id) => ({ id, name: `n${id}` })))
    const [session] = readUsage(LINES.join('\n'), () => ({ ...result, text: rows }))
    const placed = placeResults(session!, new Map(), countTokens)
    const { changes, fetches } = ARMS['lossless']!(placed)
    expect(fetches).toEqual([])
    expect(changes.map(({ call, isAgain }) => [call, isAgain])).toEqual([
      [1, false],
      [2, false],
    ])
    for (const { sent } of changes) expect(sent).toBeLessThan(countTokens(rows))
  })

  it('know how many tokens one of o200k is from results that came alone', () => {
    const text = ' word'.repeat(2_000).trim()
    const lines = Array.from({ length: 6 }, (_, at) =>
      lineOf(at, { cache_write: 1_000 + 3_000 * at, results: at === 0 ? [] : [[2_000, `t${at}`]] }),
    )
    const sessions = readUsage(lines.join('\n'), () => ({ ...result, text }))
    expect(factorsOf(sessions, countTokens).get('m')).toEqual({ factor: 1.5, samples: 5 })
  })
})

describe('what agents need', () => {
  const edit = (old_string: string) => ({ tool: 'Edit', args: { old_string }, text: 'done' })
  const text = 'first line of a file\nsecond line of a file\nthird line of a file'

  it('is in view as it was sent or by a format, or is fetched once', () => {
    const tally = newTally()
    const needs = countNeeds(tally)
    needs.pass(
      { tool: 'Read', args: { path: 'src/a-long-name.ts' }, text },
      'first line of a file…',
    )
    expect(needs.fetchFor([edit('first line of a file'), edit('second line of a file')])).toEqual(
      [],
    )
    needs.clear(0)
    expect(needs.fetchFor([edit('third line of a file')])).toEqual([0])
    expect(needs.fetchFor([edit('second line of')])).toEqual([])
    expect(tally).toMatchObject({ seen: { sent: 1, decoded: 1, fetched: 1 }, edits: 3, cut: [] })
    expect([tally.calls, tally.wholeCalls, tally.wholeEdits]).toEqual([3, 2, 2])
  })

  it('is not in view if a marker says that parts are missing', () => {
    const tally = newTally()
    const needs = countNeeds(tally)
    const marker = '> [1 lines kept, 2 not shown | hash=c6a910aca324b17db958cdf7]'
    needs.pass({ tool: 'Bash', args: {}, text }, `first line of a file\n${marker}`)
    const search = { tool: 'Grep', args: { pattern: 'no/such/file/there' }, text: '' }
    expect(needs.fetchFor([search, edit('first line of a file')])).toEqual([])
    expect(needs.fetchFor([edit('third line of a file')])).toEqual([0])
    expect([tally.cut.length, tally.calls, tally.wholeCalls]).toEqual([1, 2, 1])
  })
})
