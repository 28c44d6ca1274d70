import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { decodeReferences } from '../../../../src/core/sessions/turn/decode-references.ts'
import { createVerifier } from '../../../../src/core/verify/verify-transcript.ts'
import { createLocalSessions } from '../../../../src/library/local-sessions.ts'
import { anyText } from '../../../support/any-text.ts'
import { localContext } from '../../../support/local-context.ts'
import { leastHits, runs } from '../../../support/runs.ts'
import { counters } from '../../../support/vocabularies.ts'

/** Lines that no format makes smaller. */
const PAGES = [1, 2, 3].map(page =>
  Array.from({ length: 40 }, (_, at) => hash('sha256', `${page} ${at}`, 'base64url').slice(0, 30)),
)
const line = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...PAGES.flat()) },
  anyText(),
  fc.constantFrom(
    '',
    'text 1',
    'text 1, 4 lines',
    '> [lines 1-2]',
    '> [ref 0 lines 1-2 of a]',
    '\r',
  ),
)
/** Parts of known pages between other lines, so that there is something to refer to. */
const text = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constantFrom(...PAGES), fc.nat(15), fc.nat(20)).map(([page, from, more]) => {
        return page.slice(from, from + 5 + more)
      }),
      fc.array(line, { maxLength: 3 }),
    ),
    { maxLength: 4 },
  )
  .map(parts => parts.flat().join('\n'))
const { json } = fc.letrec<{ json: unknown }>(tie => ({
  json: fc.oneof(
    { depthSize: 'small' },
    { weight: 4, arbitrary: text },
    fc.constantFrom('text 1', 'text 2', 7, null, '1.0'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'text 1', '__proto__', 'stdout'), tie('json')),
  ),
}))
const result = fc.oneof(
  text,
  fc.tuple(json, fc.constantFrom(0, 2)).map(([value, indent]) => {
    return JSON.stringify({ stdout: value }, null, indent)
  }),
)
const context = localContext()

it('references in strings give the very value, and every hint is true', () => {
  let inStrings = 0
  fc.assert(
    fc.property(fc.array(result, { minLength: 2, maxLength: 6 }), results => {
      const { encode, decode } = createLocalSessions(context, { bodyBytes: 1 << 20 })
      const verifier = createVerifier(counters)
      for (const [at, content] of results.entries()) {
        const request = { session: 's', tool: 'run', args: { at }, content }
        const answer = encode(request)
        const { format } = answer
        const isInStrings = format.includes('string_lines@1')
        if (isInStrings) {
          inStrings++
          expect(answer.tokens.final).toBeLessThan(answer.tokens.baseline)
        }
        const { findings } = verifier.check({ line: at, entry: { request, answer } })
        expect(findings).toEqual([])
        const again = decode({ session: 's', content: answer.content, format }).content
        if (isInStrings) expect(JSON.parse(again)).toEqual(JSON.parse(content))
      }
    }),
    { numRuns: runs(60) },
  )
  expect(inStrings).toBeGreaterThanOrEqual(leastHits(runs(60) / 10))
})

it('any text in the format is decoded, or refused by a documented error', () => {
  const part = fc.oneof(
    line,
    fc.constantFrom(
      '{"a":"text 1"}',
      'text 1, 1 line',
      'text 1, 3 lines',
      '> [ref 12345678 line 1 of a]',
    ),
  )
  const style = fc.constantFrom('1,json_compact@1', '2,tree@2', '9,csv@1', '1,none@1', '0,x')
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), style, (lines, layout) => {
      try {
        decodeReferences(lines.join('\n'), `string_lines@1;${layout}`, () => 'one\ntwo', 1_000)
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
      }
    }),
    { numRuns: runs(500) },
  )
})
