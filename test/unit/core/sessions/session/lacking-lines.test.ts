import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toText } from '../../../../../src/core/base/text-bytes.ts'
import type { EncodeAnswer, EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { withRuns } from '../../../../../src/core/sessions/turn/referral.ts'
import { commitBody } from '../../../../../src/core/sessions/turn/remember.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../../../../src/core/sessions/turn/shared-sessions.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'
import { leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import { functionLines } from '../../../../support/source-code.ts'
import { counters } from '../../../../support/vocabularies.ts'

const WORDS = 'amber birch cedar delta ember fjord grove harbor inlet juniper'.split(' ')
const failure = (n: number) => {
  const word = WORDS[n % 10]!
  const other = WORDS[(n * 3 + Math.floor(n / 10)) % 10]!
  return `12:00:07 ERROR ${word} of the ${other} has no ${word}${'s'.repeat(1 + (n % 3))} left for it`
}
const report = (n: number) => `12:00:08 INFO request ${n * 7919} took ${n % 9} ms`
const lines = (count: number, write: (n: number) => string, from = 0) =>
  Array.from({ length: count }, (_, n) => write(from + n))

/** So that its lines can be counted. */
const PLAIN = { formats: ['passthrough'] }
const COMPACT = { response_budget: 'compact' } as const
const FAILURES = lines(10, failure)
/** The agent has its failures; most of the rest is bulk. */
const LOG = [...lines(60, report), ...FAILURES, ...lines(120, report, 60)].join('\n')

/** Answers of one session, all verified. */
function open() {
  const sessions = createLocalSessions(localContext(), { bodyBytes: 1 << 18 })
  const verifier = createVerifier(counters)
  let line = 0
  return {
    ...sessions,
    encode(fields: Partial<EncodeRequest> & Pick<EncodeRequest, 'content'>): EncodeAnswer {
      const request = { session: 's', tool: 'Bash', args: {}, ...fields }
      const answer = sessions.encode(request)
      const { findings, failed } = verifier.check({ line: ++line, entry: { request, answer } })
      expect([findings, failed]).toEqual([[], 0])
      return answer
    },
  }
}

type Open = ReturnType<typeof open>

const MARK = /^\[… lines? (\d+)(?:-(\d+))?\]$/

/** What the agent has of a text: all of it, once the marks are replaced by their lines. */
function restored(text: string, answer: EncodeAnswer, { decode }: Open): string {
  const all = text.split('\n')
  const shown = answer.content.split('\n').slice(0, -1)
  const whole = shown.flatMap(line => {
    const [, first, last = first] = MARK.exec(line) ?? []
    return first === undefined ? [line] : all.slice(Number(first) - 1, Number(last))
  })
  const format = answer.format.replace(/^trimmed@1;/, '')
  return decode({ session: 's', content: whole.join('\n'), format }).content
}

describe('a text that repeats lines and has bulk', () => {
  it('has references, and marks in place of its bulk', () => {
    const session = open()
    const alone = session.encode({ content: LOG, ...COMPACT, session: 'other' })
    session.encode({ content: FAILURES.join('\n'), ...PLAIN })
    const answer = session.encode({ content: LOG, ...COMPACT })
    expect(answer).toMatchObject({ layer: 'L0', format: 'trimmed@1;lines@1', lossless: false })
    expect(answer.response_level).toBe('compact')
    expect(answer.content).toMatch(/^> \[ref [0-9a-f]{8} lines 1-10 of Bash 1 call ago\]$/m)
    expect(answer.content).toContain('\n[… lines ')
    expect(answer.content).not.toContain('ERROR')
    expect(answer.tokens.final).toBeLessThan(alone.tokens.final * 0.8)
    expect(answer.savings.dedup_tokens).toBeGreaterThan(0)
    expect(answer.savings.elided_tokens).toBeGreaterThan(0)
    expect(session.original(answer.elided[0]!.hash)).toBe(LOG)
    expect(restored(LOG, answer, session)).toBe(LOG)
  })

  it('is an outline beside its references, if it is source code', () => {
    const session = open()
    const members = lines(
      12,
      n => `  readonly ${WORDS[n % 10]}OfThe${n * 7919}: ReadonlyMap<string, number>`,
    )
    const code = ['export interface Words {', ...members, '}', ...functionLines(30)]
    session.encode({ content: members.join('\n'), ...PLAIN })
    const answer = session.encode({ content: code.join('\n'), ...COMPACT })
    expect(answer).toMatchObject({ layer: 'L0', lossless: false })
    expect(answer.content).toContain('> [ref')
    expect(answer.content).toContain('step17(input')
    expect(answer.content).not.toContain('found.isEmpty')
    expect(restored(code.join('\n'), answer, session)).toBe(code.join('\n'))
  })

  it.each([
    ['in mode lossless', {}],
    ['if it fits a budget', { mode: 'elide', budget_tokens: 100_000 }],
    ['if it is an error', { mode: 'elide', is_error: true }],
    ['at level standard', { response_budget: 'standard' }],
  ] as const)('keeps all lines %s', (_, fields) => {
    const { encode } = open()
    encode({ content: FAILURES.join('\n'), ...PLAIN })
    expect(encode({ content: LOG, ...fields }).lossless).toBe(true)
  })

  it('has no references to lines that are bulk', () => {
    const { encode } = open()
    encode({ content: lines(30, report).join('\n'), ...PLAIN })
    const answer = encode({ content: LOG, ...COMPACT })
    expect(answer).toMatchObject({ layer: 'L2', lossless: false })
    expect(answer.content).not.toContain('> [ref')
  })

  it('keeps all lines if references save nearly everything', () => {
    const { encode } = open()
    encode({ content: LOG, ...PLAIN })
    const answer = encode({ content: `${LOG}\n${report(999)}`, ...COMPACT })
    expect(answer).toMatchObject({ format: 'lines@1', lossless: true })
  })

  it('is nothing that a later result refers to', () => {
    const { encode } = open()
    encode({ content: FAILURES.join('\n'), ...PLAIN })
    encode({ content: LOG, ...COMPACT })
    const again = encode({ content: LOG, ...COMPACT })
    expect(again.format).toBe('trimmed@1;lines@1')
    expect(again.content).toMatch(/lines 1-10 of Bash 2 calls ago/)
  })

  it('keeps its original and depends on what it refers to, also in a retry', () => {
    const shared = createSharedSessions({ maxSessions: 2, maxEntries: 10 }, 1 << 20)
    const sessions = { ...attachSessions(shared, { owner: MAIN_OWNER }), tenant: 't', nowMs: 0 }
    const context = { ...localContext(), keepsOriginals: true, sessions }
    const run = (request: EncodeRequest) => {
      const done = encodeOperation.run({ session: 's', tool: 'Bash', ...request }, context)
      const { answer, keep = [], dependencies = [] } = done
      for (const { ticket } of keep) if (ticket !== undefined) commitBody(sessions, ticket, true)
      const originals = keep.filter(({ session }) => session === undefined)
      return { answer, dependencies, originals: originals.map(toText) }
    }
    const other = 'a line of no use that came before it'.repeat(4)
    run({ content: other, tool_call_id: 't0', ...PLAIN })
    run({ content: FAILURES.join('\n'), tool_call_id: 't1', ...PLAIN })
    const request = { content: LOG, ...COMPACT, tool_call_id: 't2' } as const
    const first = run(request)
    expect(first.answer.format).toBe('trimmed@1;lines@1')
    expect(first.originals).toEqual([LOG])
    expect(first.dependencies).toEqual([expect.objectContaining({ session: 's' })])
    expect(run(request)).toEqual(first)
  })

  it('depends on no body that its references are not to', () => {
    const runs = ['a', 'b', 'a'].map((identity, at) => {
      return { identity, from: 9 * at, end: 9 * at + 5, reference: `> [ref ${identity}${at}]` }
    })
    const dependencies = ['a', 'b'].map(ref => ({ session: 's', ref, identity: ref, context: 'c' }))
    const referral = { kind: 'lines', content: '', format: 'lines@1', hints: [], runs } as const
    const left = withRuns({ ...referral, dependencies } as never, 'x', [runs[1]!])
    expect(left.dependencies).toEqual([dependencies[1]])
    expect(left.hints).toEqual([{ family: 'lines', text: '> [ref b1]' }])
  })

  it('gives back every text, with the lines of its marks', () => {
    const piece = fc.oneof(
      fc.record({ write: fc.constant(report), count: fc.integer({ min: 1, max: 80 }) }),
      fc.record({ write: fc.constant(failure), count: fc.integer({ min: 1, max: 12 }) }),
      fc.record({
        write: fc.constantFrom(
          () => '> [ref 01234567 lines 1-2 of Bash 1 call ago]',
          () => '[… lines 3-9]',
          () => '',
        ),
        count: fc.constant(1),
      }),
    )
    const text = fc
      .array(piece, { minLength: 2, maxLength: 9 })
      .map(pieces => pieces.flatMap(({ write, count }, at) => lines(count, write, 100 * at)))
    const number = fewRuns(200, 4)
    let hits = 0
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (all, start, count) => {
        const session = open()
        const from = start % all.length
        const before = all.slice(from, from + 1 + (count % 60)).join('\n')
        session.encode({ content: before, ...PLAIN })
        const content = all.join('\n')
        const answer = session.encode({ content, ...COMPACT })
        const { final, baseline } = answer.tokens
        if (answer.look_alikes === undefined) expect(final).toBeLessThanOrEqual(baseline)
        if (answer.format !== 'trimmed@1;lines@1') return
        hits++
        expect(session.original(answer.elided[0]!.hash)).toBe(content)
        if (!content.includes('[…')) expect(restored(content, answer, session)).toBe(content)
      }),
      { numRuns: number },
    )
    expect(hits).toBeGreaterThanOrEqual(leastHits(number * 0.02))
  })

  it('has the lines that its references continue, with numbers or without', () => {
    const code = functionLines(40)
    const numbered = (from: number, end: number, first: number) =>
      code.slice(from, end).map((line, at) => `${String(first + at).padStart(6)}\u2192${line}`)
    const part = fc.record({
      from: fc.nat(code.length - 2),
      lines: fc.integer({ min: 4, max: 60 }),
      first: fc.constantFrom(0, 1, 300),
    })
    const number = fewRuns(300, 5)
    let hits = 0
    fc.assert(
      fc.property(fc.array(part, { minLength: 2, maxLength: 6 }), fc.boolean(), (parts, isBare) => {
        const session = open()
        for (const { from, lines, first } of parts) {
          const shown =
            first === 0 ? code.slice(from, from + lines) : numbered(from, from + lines, first)
          session.encode({ content: shown.join('\n'), ...PLAIN })
        }
        const all = isBare ? code : numbered(0, code.length, 5)
        const answer = session.encode({ content: all.join('\n'), ...COMPACT })
        if (!answer.format.startsWith('trimmed@1;lines@1')) return
        const body = bodyOf(answer)!
        const read = session.decode({ session: 's', ...body }).content.split('\n')
        for (const line of read) expect(all.includes(line) || MARK.test(line)).toBe(true)
        hits++
      }),
      { numRuns: number },
    )
    expect(hits).toBeGreaterThanOrEqual(leastHits(number * 0.1))
  })
})
