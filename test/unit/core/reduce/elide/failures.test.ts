import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../../src/core/base/errors.ts'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { decodeContent } from '../../../../../src/core/pipeline/decode.ts'
import { isDataText } from '../../../../../src/core/reduce/elide/data-text.ts'
import { BULK } from '../../../../../src/core/reduce/elide/reducer.ts'
import { severityOf } from '../../../../../src/core/reduce/elide/severity.ts'
import { rankText } from '../../../../../src/core/reduce/elide/text-reducers.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { FULL_RUNS, leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import { counters } from '../../../../support/vocabularies.ts'

const context = { counters, maxDepth: 1_000, maxDecodedChars: 1e7, keepsOriginals: true }
const encode = (request: EncodeRequest) =>
  encodeOperation.run({ mode: 'elide', min_saved_tokens: 0, ...request }, context)

/** What an agent reads, as it was before it was written shorter. */
function shown(request: EncodeRequest): string {
  const { answer } = encode(request)
  const body = bodyOf(answer)!
  return decodeContent(body.content, body.format, 1e7).content
}

const times = <T>(count: number, each: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => each(at))

const jobs = times(60, id => ({
  id,
  name: `job-${id}`,
  phase: id === 30 ? 'Failed' : 'Done',
  error: id === 30 ? 'OOMKilled by the host' : null,
  seconds: 20 + (id % 7),
}))
const pretty = JSON.stringify(jobs, null, 2)
const numbered = (text: string) =>
  text
    .split('\n')
    .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
    .join('\n')
const block = (sign: string, head: (name: string) => string, divides: string) =>
  jobs
    .map(({ name, phase, error, seconds }) =>
      [
        `${sign}${head(name)} {`,
        `  ${sign}phase${divides}"${phase}"`,
        `  ${sign}error${divides}"${error ?? ''}"`,
        `  ${sign}seconds${divides}${seconds}`,
        `  ${sign}host${divides}var.host`,
        `${sign === '' ? '' : '  '}}`,
      ].join('\n'),
    )
    .join('\n')

/** Data with braces that is no whole JSON. */
const DATA: readonly (readonly [string, string])[] = [
  ['JSON that is cut at its end', pretty.slice(0, -40)],
  ['JSON that is cut at its start', pretty.slice(50)],
  ['JSON with a comma too much', pretty.replace(/\}\n\]$/, '},\n]')],
  ['JSON that was read with numbers', numbered(pretty.slice(0, -40))],
  ['what util.inspect prints', inspect(jobs, { maxArrayLength: null, compact: false })],
  [
    'a dump of JavaScript',
    `const jobs = ${inspect(jobs, { maxArrayLength: null, breakLength: 20 })}`,
  ],
  ['Terraform', block('', name => `resource "job" "${name}"`, ' = ')],
  ['a plan of Terraform', block('+ ', name => `resource "job" "${name}"`, ' = ')],
  ['a text of Protocol Buffers', block('', () => 'job', ': ')],
  ['a stream of jq', jobs.map(job => JSON.stringify(job, null, 2)).join('\n')],
]

describe('a failure among data', () => {
  it.each(DATA)('stays in %s, at each level', (_, content) => {
    expect(shown({ content })).toContain('OOMKilled')
    expect(shown({ content, response_budget: 'compact' })).toContain('OOMKilled')
  })

  it('is told from source code, which has statements', () => {
    const texts = DATA.filter(([name]) => !name.includes('numbers'))
    for (const [name, text] of texts) expect([name, isDataText(text.split('\n'))]).toContain(true)
    const code = times(
      20,
      at => `  const a${at} = load(${at});\n  if (a${at} > 3) {\n    stop()\n  }`,
    )
    expect(isDataText(code.join('\n').split('\n'))).toBe(false)
  })

  it('stays in a text among source code, and in output between its lines', () => {
    const code = times(40, at => `function f${at}(a) {\n  const b = a + ${at}\n  return b\n}`)
    const literal = code.with(20, "function g() {\n  return {\n    phase: 'Failed',\n  }\n}")
    const output = code.with(20, 'function g() {\n  OOMKilled worker refused to stop\n}')
    for (const [lines, words] of [
      [literal, "phase: 'Failed'"],
      [output, 'OOMKilled worker'],
    ] as const) {
      const { kind, ranks, lines: all } = rankText(lines.join('\n'))!
      expect(kind).toBe('braces')
      expect(ranks[all.findIndex(line => line.includes(words))]).not.toBe(BULK)
    }
  })

  it('stays however deep in an item it is, and late in an output in it', () => {
    const pod = (at: number) => ({
      name: `pod-${at}`,
      status: { containers: [{ state: { last: { reason: at === 41 ? 'OOMKilled' : 'ok' } } }] },
      output: `${'all is well\n'.repeat(40)}${at === 20 ? 'ERROR disk 20 is full' : ''}`,
    })
    // Both values occur often, so that no item is kept as an outlier.
    const items = times(80, at => pod(at % 2 === 0 && at > 50 ? 41 : at % 50))
    const { answer } = encode({ content: JSON.stringify(items) })
    expect(answer.lossless).toBe(false)
    expect(answer.content).toContain('disk 20 is full')
    expect(answer.content).toContain('OOMKilled')
  })
})

const failuresIn = (text: string) =>
  text.split('\n').filter(line => severityOf(line) === 'failure' && !line.startsWith('[…')).length
const countedIn = (text: string) =>
  [...text.matchAll(/^\[….*\]$/gm)]
    .flatMap(([mark]) => [...mark.matchAll(/, (\d+) (?:like|other|failures?)/g)])
    .reduce((sum, [, count]) => sum + Number(count), 0)

describe('failures of one kind', () => {
  const log = (failures: number, all: number) =>
    times(all, at =>
      at % Math.floor(all / failures) === 0 && at / Math.floor(all / failures) < failures
        ? `2026-01-01 10:00:${10 + (at % 50)} ERROR posting rejected by ledger, id ${at}`
        : `2026-01-01 10:00:${10 + (at % 50)} INFO posting ${at} was read`,
    )
  it('all stay up to 200 lines, or a tenth of the lines', () => {
    expect(failuresIn(shown({ content: log(200, 1_000).join('\n') }))).toBe(200)
    expect(failuresIn(shown({ content: log(300, 4_000).join('\n') }))).toBe(300)
  })

  it.each([
    [250, 2_000],
    [450, 4_000],
    [999, 2_000],
  ])('are counted in place beyond it: %i of %i lines', (failures, all) => {
    const content = log(failures, all).join('\n')
    const text = shown({ content })
    expect(text).toMatch(/\[… lines \d+-\d+, \d+ like "posting rejected by ledger, id"\]/)
    expect(failuresIn(text) + countedIn(text)).toBe(failures)
    const request = { content, mode: 'elide', min_saved_tokens: 0 } as const
    const { answer } = encode(request)
    const { findings } = createVerifier(counters).check({ line: 1, entry: { request, answer } })
    expect(findings).toEqual([])
  })

  it('leave few lines of another kind whole', () => {
    const lines = log(900, 1_800)
    for (const at of [3, 401, 1_203]) lines[at] = `2026-01-01 10:00:01 ERROR lease ${at} was lost`
    const text = shown({ content: lines.join('\n') })
    for (const at of [3, 401, 1_203]) expect(text).toContain(`lease ${at} was lost`)
  })
})

describe('failures within a budget', () => {
  /** Tokens from each budget to the next; a short run looks at fewer. */
  const STEP = FULL_RUNS ? 37 : 148
  const DECODED = /marker(\d+)x/g
  const lineOf = (at: number, words: string | undefined) =>
    words === undefined ? `entry ${at} took ${at * 7} ms` : `${words} marker${at}x`
  const list = (failures: ReadonlyMap<number, string>) =>
    JSON.stringify(
      times(60, at => ({ at, state: failures.has(at) ? lineOf(at, failures.get(at)) : 'done' })),
    )
  const text = (failures: ReadonlyMap<number, string>) =>
    times(60, at => lineOf(at, failures.get(at))).join('\n')

  function markersAt(content: string, budget_tokens: number): ReadonlySet<string> | null {
    try {
      return new Set(
        Array.from(shown({ content, budget_tokens }).matchAll(DECODED), found => found[1]!),
      )
    } catch (error) {
      if (error instanceof AppError && error.code === 'budget_too_small') return null
      throw error
    }
  }

  const words = fc.constantFrom(
    'a.cfg failed',
    'worker crashed on the way down',
    'Killed',
    'java.lang.OutOfMemoryError: heap space is exhausted in the worker of the night',
  )
  const failures = fc
    .uniqueArray(fc.tuple(fc.nat(59), words), {
      minLength: 1,
      maxLength: 12,
      selector: ([at]) => at,
    })
    .map(entries => new Map(entries))

  it.each([
    ['a text', text],
    ['a list', list],
  ])('that are kept at one are kept at every larger one, in %s', (_, write) => {
    fc.assert(
      fc.property(
        failures,
        fc.array(fc.integer({ min: 40, max: 900 }), { minLength: 4, maxLength: 4 }),
        (bad, budgets) => {
          let before: ReadonlySet<string> = new Set()
          for (const budget of budgets.toSorted((a, b) => a - b)) {
            const kept = markersAt(write(bad), budget)
            if (kept === null) continue
            expect([...before].filter(each => !kept.has(each))).toEqual([])
            before = kept
          }
        },
      ),
      { numRuns: fewRuns(12, 2) },
    )
  })

  it('stay if they are small, beside one that is too large', () => {
    const large = `Killed ${times(300, at => `worker${at * 7919}`).join(' ')}`
    const content = times(60, at =>
      at === 20 ? large : lineOf(at, at === 40 ? 'Killed' : undefined),
    )
    expect(markersAt(content.join('\n'), 160)).toEqual(new Set(['40']))
  })

  it('are shown or counted in their gaps in a log, in both modes', () => {
    const written = (bad: ReadonlyMap<number, string>) =>
      times(
        90,
        at => `2026-01-01 10:00:${10 + (at % 50)} ${lineOf(at, bad.get(at)?.slice(0, 30))}`,
      ).join('\n')
    let counted = 0
    const modes = fc.constantFrom('trim' as const, 'elide' as const)
    fc.assert(
      fc.property(failures, modes, fc.integer({ min: 120, max: 900 }), (bad, mode, budget) => {
        const request = { content: written(bad), mode, budget_tokens: budget }
        const { answer } = encode(request)
        const text = shown(request)
        expect(failuresIn(text) + countedIn(text)).toBe(bad.size)
        counted += countedIn(text)
        const { findings } = createVerifier(counters).check({ line: 1, entry: { request, answer } })
        expect(findings).toEqual([])
      }),
      { numRuns: fewRuns(25, 5) },
    )
    expect(counted).toBeGreaterThanOrEqual(leastHits(5))
  })

  it('come before others in mode trim, in logs and in lists', () => {
    const lines = times(
      90,
      at => `2026-01-01 10:00:${10 + (at % 50)} INFO ${lineOf(at, undefined)}`,
    )
    const log = lines.with(77, '2026-01-01 10:01:27 Killed marker77x').join('\n')
    for (let budget_tokens = 90; budget_tokens < 1_200; budget_tokens += STEP) {
      for (const content of [log, list(new Map([[31, 'a.cfg failed']]))]) {
        expect(shown({ content, budget_tokens, mode: 'trim' })).toMatch(/marker(?:77|31)x/)
      }
    }
  })

  it('come before lines that report none, at each budget that they fit', () => {
    const one = new Map([[31, 'a.cfg failed']])
    for (const write of [text, list]) {
      const least = times(40, at => 40 + at * 4).find(budget =>
        markersAt(write(one), budget)?.has('31'),
      )!
      for (let budget = least; budget < 900; budget += STEP) {
        expect([budget, markersAt(write(one), budget)?.has('31')]).toEqual([budget, true])
      }
    }
  })
})
