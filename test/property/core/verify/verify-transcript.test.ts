import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { LOCAL_TENANT } from '../../../../src/core/base/tenant-name.ts'
import type { EncodeRequest } from '../../../../src/core/contract/encode.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { parseTranscript } from '../../../../src/core/verify/transcript.ts'
import { verifyTranscript } from '../../../../src/core/verify/verify-transcript.ts'
import { createLocalSessions } from '../../../../src/library/local-sessions.ts'
import { anyText } from '../../../support/any-text.ts'
import { localContext } from '../../../support/local-context.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'

/** More in the long run. */
const RUNS = fewRuns(1_000, 8)

const context = localContext()

const word = fc.oneof(
  anyText({ maxLength: 12 }),
  fc.constantFrom(
    'open',
    '',
    '… 5 not shown',
    'a[8 of 64]:',
    '> [ref 0a1b2c3d]',
    '…[+3 chars]',
    '[… lines 2-3]',
    '[… line 1]',
  ),
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
const table = fc
  .array(fc.record({ id: fc.nat(99), state: word }), { minLength: 8, maxLength: 30 })
  .map(list => JSON.stringify(list, null, 2))
const json = fc
  .oneof(tree, rows, fc.record({ items: rows, note: prose }))
  .map(v => JSON.stringify(v))
const line = fc.oneof(prose, word, fc.constantFrom('# Heading', '```', '> quoted', '| a | b |', ''))
const text = fc.array(line, { maxLength: 60 }).map(lines => lines.join('\n'))

/** Long enough to be referred to. */
const record = fc.record({ id: fc.nat(9), name: prose, rows: fc.array(prose, { minLength: 3 }) })
const content = fc.oneof(
  json,
  table,
  text,
  fc.array(prose, { minLength: 12, maxLength: 40 }).map(lines => lines.join('\n')),
  record.map(value => JSON.stringify(value)),
)
/** One of a few that come again, whole or in part, or in one scalar another. */
const bodies = fc.array(content, { minLength: 1, maxLength: 3 })
const variant = fc.constantFrom(
  (body: string) => body,
  (body: string) => `new first line\n${body}`,
  (body: string) => [...body].slice(0, body.length >> 1).join(''),
  (body: string) => body.replace(/\d/, '8'),
)

const seldom = fc.nat(9).map(n => n === 0)

const fields: fc.Arbitrary<Omit<EncodeRequest, 'content'>> = fc.record(
  {
    mode: fc.constantFrom('lossless', 'trim', 'elide'),
    budget_tokens: fc.oneof(fc.nat(60), fc.nat(600)),
    strategy: fc.constantFrom('equal', 'trailing'),
    tokenizer: fc.constantFrom('cl100k_base', 'anthropic_class'),
    tool: fc.constantFrom('list', 'get issues', 'Read', 'Write'),
    args: fc.oneof(
      fc.constantFrom({ page: 1, per_page: 5 }, { offset: 0, limit: 5, q: 'x]' }, [1]),
      fc.record({ path: word, content: text }),
    ),
    query: prose,
    pagination: fc.record({ total: fc.nat(20), returned: fc.constant(5) }),
    sort: fc.record({ by: word, order: fc.constantFrom('asc', 'desc') }),
    session: fc.constantFrom('s1', 's1', 's1', 's2', undefined),
    is_error: seldom,
    is_sidechain: seldom,
  },
  { requiredKeys: ['session', 'tool'] },
) as fc.Arbitrary<Omit<EncodeRequest, 'content'>>

const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ body: fc.nat(2), variant, fields }) },
  { weight: 1, arbitrary: fc.constantFrom('compaction' as const, 'close' as const) },
)

const pipeline = fc
  .record({
    verbosity: fc.constantFrom('terse', 'standard', 'verbose'),
    near_ref_enabled: fc.boolean(),
    preferred_format: fc.constantFrom('csv', 'tree', 'md'),
  })
  .map(({ verbosity, near_ref_enabled, preferred_format }) =>
    pipelineSchema.parse({
      dedup: { near_ref_enabled, min_body_chars: 20, hint_verbosity: verbosity },
      profiles: {
        data: {
          variants: {
            list: { endpoint_pattern: 'list', preferred_format },
            read: { endpoint_pattern: 'Read', preferred_format },
          },
        },
      },
    }),
  )

/** Lines of the transcript of these steps; requests that fit no budget have no answer. */
function recordAll(texts: readonly string[], steps: readonly Step[], config: Config): string[] {
  const sessions = createLocalSessions({ ...context, pipeline: config }, { bodyBytes: 1 << 20 })
  return steps.flatMap(each => {
    if (typeof each === 'string') {
      const act = each === 'close' ? sessions.desk.close : sessions.desk.compact
      const isKnown = act(LOCAL_TENANT, 's1') !== null
      return isKnown ? [JSON.stringify({ event: each, session: 's1' })] : []
    }
    const body = texts[each.body % texts.length] ?? ''
    const request: EncodeRequest = { ...each.fields, content: each.variant(body) }
    try {
      return [JSON.stringify({ request, answer: sessions.encode(request) })]
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const isCall = error.code === 'budget_too_small'
      return isCall ? [JSON.stringify({ request, answer: null })] : []
    }
  })
}

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type Config = ReturnType<typeof pipelineSchema.parse>

describe('verifyTranscript', () => {
  it('finds nothing wrong with what this version answers', () => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(
        bodies,
        fc.array(step, { minLength: 2, maxLength: 8 }),
        pipeline,
        (texts, steps, config) => {
          const lines = recordAll(texts, steps, config)
          for (const line of lines) {
            for (const [, family = ''] of line.matchAll(/"family":"(\w+)"/g)) {
              seen.set(family, (seen.get(family) ?? 0) + 1)
            }
          }
          expect(verifyTranscript(parseTranscript(lines.join('\n')), context.counters)).toEqual([])
        },
      ),
      { numRuns: RUNS },
    )
    // Else it was not looked at. Few runs may miss a family that is rare.
    if (!FULL_RUNS) return
    for (const family of ['reference', 'lines', 'metadata', 'overflow', 'format', 'elision']) {
      expect(seen.get(family) ?? 0, family).toBeGreaterThan(0)
    }
  })
})
