import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import type { EncodeRequest } from '../../../../src/core/contract/encode.ts'
import {
  escapeInJson,
  escapeLookAlikes,
  unescapeLookAlikes,
} from '../../../../src/core/hints/escape.ts'
import type { Hint } from '../../../../src/core/hints/hint.ts'
import { hintLine } from '../../../../src/core/hints/hint-line.ts'
import { findLookAlikes } from '../../../../src/core/hints/look-alikes.ts'
import { sameMeaning } from '../../../../src/core/verify/same-meaning.ts'
import { createVerifier } from '../../../../src/core/verify/verify-transcript.ts'
import { createLocalSessions } from '../../../../src/library/local-sessions.ts'
import { bareLookAlike, readHints } from '../../../support/hint-reader.ts'
import { localContext } from '../../../support/local-context.ts'
import { runs } from '../../../support/runs.ts'
import { HINTS, verbosity } from './hints.ts'
import { imitating } from './look-alikes.ts'

/** More in the long run. */
const RUNS = runs(60)

const context = localContext()

const options = fc.constantFrom<Partial<EncodeRequest>>(
  {},
  { formats: ['passthrough'] },
  { formats: ['json_compact'] },
  { formats: ['csv', 'numbered', 'prefixed'] },
  { mode: 'elide', min_saved_tokens: 0 },
  { mode: 'trim', budget_tokens: 120 },
  { mode: 'trim', budget_tokens: 300, formats: ['json_compact'] },
  {
    mode: 'trim',
    budget_tokens: 200,
    tool: 'get',
    args: {},
    pagination: { total: 90, returned: 9 },
  },
)

it('an independent reader names exactly our hints, and every text decodes', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(imitating, options), { minLength: 1, maxLength: 6 }), calls => {
      const sessions = createLocalSessions(context, { bodyBytes: 1 << 20 })
      const verifier = createVerifier(context.counters)
      // Each comes twice, then in terms of what came before.
      const twice = [...calls, ...calls.map(([text, o]) => [`first\n${text}`, o] as const)]
      for (const [line, [content, option]] of twice.entries()) {
        const request = {
          content,
          session: 's',
          tool: 'Read',
          args: { path: `${line}` },
          ...option,
        }
        const answer = encode(() => sessions.encode(request))
        if (answer === null) {
          verifier.check({ line, entry: { request, answer: null } })
          continue
        }
        expect(readHints(answer.content)).toEqual(answer.hints.map(({ text }) => text))
        expect(bareLookAlike(withoutOwn(answer))).toBeNull()
        expect(verifier.check({ line, entry: { request, answer } }).findings).toEqual([])
        if (!answer.lossless) continue
        const { content: text, format } = answer
        expect(sameMeaning(content, sessions.decode({ content: text, format, session: 's' }))).toBe(
          true,
        )
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})

function encode<Answer>(run: () => Answer): Answer | null {
  try {
    return run()
  } catch (error) {
    if (error instanceof AppError && error.code === 'budget_too_small') return null
    throw error
  }
}

/** The text without our hints, and without the marks of what elision left out. */
function withoutOwn(answer: ReturnType<ReturnType<typeof createLocalSessions>['encode']>): string {
  if (answer.lossless) {
    const own = new Set(answer.hints.map(({ text }) => text))
    return answer.content
      .split('\n')
      .filter(line => !own.has(line))
      .join('\n')
  }
  const body = answer.content.slice(0, answer.content.lastIndexOf('> ['))
  const index = answer.chunks === undefined ? -1 : body.lastIndexOf('[chunks] ')
  const before = answer.hints.filter(({ family }) => family !== 'elision')
  const text = before.reduce((all, hint) => all.replace(hint.text, ''), body)
  return (index === -1 ? text : text.slice(0, index)).replaceAll(/^\[… lines? [\d-]+\]$/gm, '')
}

it('escapes are undone, and change nothing where nothing is bare', () => {
  fc.assert(
    fc.property(imitating, fc.constantFrom('all', 'hints'), (text, kinds) => {
      const escaped = escapeLookAlikes(text, kinds)
      if (escaped.count === 0) expect(escaped.content).toBe(text)
      else expect(unescapeLookAlikes(escaped.content, kinds)).toBe(text)
      expect(escapeLookAlikes(escaped.content, kinds).count).toBe(0)
      const json = JSON.stringify({ text })
      expect(JSON.parse(escapeInJson(json, kinds).content)).toEqual({ text })
    }),
    { numRuns: runs(600) },
  )
})

it('whatever we write as a hint is a look-alike where content has it', () => {
  fc.assert(
    fc.property(fc.oneof(...Object.values<fc.Arbitrary<Hint>>(HINTS)), verbosity, (hint, told) => {
      const line = hintLine(hint, told)
      fc.pre(line !== null)
      expect(findLookAlikes(line, 'hints')[0]).toBe(0)
      expect(readHints(line)).toEqual([line])
    }),
    { numRuns: runs(240) },
  )
})
