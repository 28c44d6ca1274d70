import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readReference } from '../../../../../src/core/sessions/lines/reference-line.ts'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { anySaving } from '../../../../support/any-saving.ts'
import { localContext } from '../../../../support/local-context.ts'
import { leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'

const RUNS = fewRuns(150, 12)
const context = { ...localContext(), pipeline: anySaving(), keepsOriginals: true }

/** Functions of which no line stands twice. */
const source = (seed: number, functions: number) =>
  Array.from({ length: functions }, (_, at) => {
    const word = (i: number) => hash('sha256', `${seed} ${at} ${i}`, 'hex').slice(0, 24)
    const long = Array.from({ length: at % 5 === 0 ? 90 : 1 }, (_, i) => word(20 + i)).join(' ')
    const body = Array.from({ length: 9 }, (_, i) => `  const v${i} = compute('${word(i)}')`)
    body[4] = `  const text = '${long}'`
    return [`export function f${seed}_${at}(input: string): number {`, ...body, `} // ${word(9)}`]
  }).flat()

const numbered = (lines: readonly string[], first: number) =>
  lines.map((line, i) => `${String(first + i).padStart(6)}\t${line}`)

/** Numbers may be left out of a text that has them, so lines are compared without. */
const bare = (line: string) => line.replace(/^ *\d*\t/, '')

const read = fc.record({
  seed: fc.nat(1),
  hasNumbers: fc.boolean(),
  from: fc.oneof(fc.constant(0), fc.nat(60)),
  lines: fc.oneof(fc.constant(400), fc.integer({ min: 12, max: 60 })),
  asked: fc.constantFrom<object>({ mode: 'elide' }, {}, { response_budget: 'compact' }),
})

it('lines that an elided result lacks are never referred to, and those that it has are', () => {
  let referred = 0
  fc.assert(
    fc.property(fc.array(read, { minLength: 2, maxLength: 5 }), reads => {
      const sessions = createLocalSessions(context, { bodyBytes: 1 << 22 })
      const earlier: { text: string; sent: ReadonlySet<string>; isCut: boolean }[] = []
      for (const { seed, hasNumbers, from, lines, asked } of reads) {
        const part = source(seed, 14).slice(from, from + lines)
        const text = (hasNumbers ? numbered(part, from + 1) : part).join('\n')
        const request = { tool: 'Read', args: { seed }, session: 's', ...asked }
        const answer = sessions.encode({ ...request, content: text })
        let current = ''
        for (const line of answer.content.split('\n')) {
          const reference = readReference(line)
          if (reference === null) continue
          current = reference.ref ?? current
          const of = earlier.filter(each => hash('sha256', each.text).startsWith(current))
          const own = of[0]!.text.split('\n')
          const at = own.findIndex(each => Number.parseInt(each, 10) === reference.first)
          const start = at === -1 ? reference.first - 1 : at
          const named = own.slice(start, start + reference.last - reference.first + 1)
          const whole = of.find(({ sent }) => named.every(each => sent.has(bare(each))))
          expect(whole, line).toBeDefined()
          if (whole!.isCut) referred++
        }
        const sent = new Set(answer.content.split('\n').map(bare))
        earlier.push({ text, sent, isCut: !answer.lossless })
      }
    }),
    { numRuns: RUNS },
  )
  expect(referred).toBeGreaterThan(leastHits(RUNS / 5))
})
