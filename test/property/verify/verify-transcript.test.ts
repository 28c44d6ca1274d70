import { homedir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeOperation } from '../../../src/core/operations/encode.ts'
import type { EncodeRequest } from '../../../src/core/requests/encode.ts'
import { createTokenCounters } from '../../../src/core/tokens/counters.ts'
import { parseTranscript } from '../../../src/core/verify/transcript.ts'
import { verifyTranscript } from '../../../src/core/verify/verify-transcript.ts'
import { AppError } from '../../../src/errors.ts'
import { loadVocabularies } from '../../../src/vocabulary.ts'

/** More in the long run. */
const RUNS = Number(process.env['VERIFY_RUNS'] ?? 1_000)

const counters = createTokenCounters(
  loadVocabularies({ cacheDir: join(homedir(), '.cache', 'haversack') }),
)
const context = { counters, maxDepth: 64, maxDecodedChars: 1_000_000, keepsOriginals: true }

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('open', '', '> [ref 0a1b2c3d]', '…[+3 chars]', '[… lines 2-3]', '[… line 1]'),
)
const prose = fc.array(word, { maxLength: 120 }).map(words => words.join(' '))
// Few different values, so that what is left can be read in several ways.
const scalar = fc.oneof(word, prose, fc.integer({ min: 0, max: 3 }), fc.constant(null))
const key = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('id', '__proto__', 'a.b', ''))
const { tree } = fc.letrec(tie => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('tree'), { maxLength: 8 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 8 }),
  ),
}))
const rows = fc.uniqueArray(key, { minLength: 1, maxLength: 5 }).chain(keys =>
  fc.array(fc.record(Object.fromEntries(keys.map(k => [k, scalar])), { requiredKeys: [] }), {
    maxLength: 60,
  }),
)
const json = fc
  .oneof(tree, rows, fc.record({ items: rows, note: prose }))
  .map(v => JSON.stringify(v))
const line = fc.oneof(prose, word, fc.constantFrom('# Heading', '```', '> quoted', '| a | b |', ''))
const text = fc.array(line, { maxLength: 60 }).map(lines => lines.join('\n'))

const request: fc.Arbitrary<EncodeRequest> = fc.record(
  {
    content: fc.oneof(json, text),
    mode: fc.constantFrom('lossless', 'trim', 'elide'),
    budget_tokens: fc.oneof(fc.nat(60), fc.nat(600)),
    strategy: fc.constantFrom('equal', 'trailing'),
    tokenizer: fc.constantFrom('cl100k_base', 'anthropic_class'),
    tool: fc.constantFrom('list', 'get issues'),
    args: fc.constantFrom({ page: 1, per_page: 5 }, { offset: 0, limit: 5, q: 'x]' }, [1]),
    query: prose,
    pagination: fc.record({ total: fc.nat(20), returned: fc.constant(5) }),
    sort: fc.record({ by: word, order: fc.constantFrom('asc', 'desc') }),
    session: fc.constantFrom('s1', 's2'),
    is_error: fc.boolean(),
  },
  { requiredKeys: ['content'] },
) as fc.Arbitrary<EncodeRequest>

/** As a line of a transcript; `null` where the service refuses. */
function record(asked: EncodeRequest): string | null {
  try {
    const { answer } = encodeOperation.run(asked, context)
    return JSON.stringify({ request: asked, answer })
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

describe('verifyTranscript', () => {
  it('finds nothing wrong with what this version answers', () => {
    let omitting = 0
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 3 }), requests => {
        const lines = requests.map(record).filter(each => each !== null)
        omitting += lines.filter(each => each.includes('"lossless":false')).length
        expect(verifyTranscript(parseTranscript(lines.join('\n')), counters)).toEqual([])
      }),
      { numRuns: RUNS },
    )
    // Else the markers would not have been looked at.
    expect(omitting).toBeGreaterThan(RUNS / 20)
  })
})
