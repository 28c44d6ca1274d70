import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../../src/core/base/errors.ts'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import { counters } from '../../../../support/vocabularies.ts'

const RUNS = fewRuns(15, 3)

const rule = { max_per_session: 1 }
const pipeline = pipelineSchema.parse({
  dedup: { enabled_per_endpoint: { list_issues: false } },
  hints: { types: { metadata: rule, overflow: rule } },
})
const context = {
  counters,
  maxDepth: 64,
  maxDecodedChars: 1_000_000,
  keepsOriginals: true,
  pipeline,
}

const words = fc.array(fc.constantFrom('red', 'green', '你好', 'x = 1;', 'open'), {
  minLength: 20,
  maxLength: 60,
})
const items = fc
  .array(words, { minLength: 25, maxLength: 50 })
  .map(list =>
    list.map((body, id) => ({ id, title: body.slice(0, 9).join(' '), body: body.join(' ') })),
  )
  .map(list => JSON.stringify(list))

describe('hints of which a session has had enough', () => {
  it('change no chunk of a list, whichever request comes first', () => {
    let divided = 0
    fc.assert(
      fc.property(items, fc.integer({ min: 200, max: 450 }), (content, budget_tokens) => {
        const sessions = createLocalSessions(context, { bodyBytes: 1 << 20 })
        const ask = (fields: Partial<EncodeRequest>) => {
          const answer = sessions.encode({
            content,
            mode: 'trim',
            budget_tokens,
            tool: 'list_issues',
            args: { page: 1, per_page: 40 },
            pagination: { total: 4_000, returned: 40, offset: 0 },
            ...fields,
          })
          expect(answer.tokens.final).toBeLessThanOrEqual(budget_tokens)
          return answer
        }
        const divisionOf = ({ chunks = [] }: ReturnType<typeof ask>) =>
          chunks.map(chunk => chunk.items)
        try {
          const first = ask({ session: 's' })
          if (first.hints.length < 3) return
          const again = ask({ session: 's' })
          expect(again.hints.map(({ family }) => family)).toEqual(['elision'])
          expect(divisionOf(again)).toEqual(divisionOf(first))
          if (divisionOf(first).length < 2) return
          divided++
          expect(divisionOf(ask({ session: 's', chunk: 2 }))).toEqual(divisionOf(first))
          expect(divisionOf(ask({ chunk: 2 }))).toEqual(divisionOf(first))
        } catch (error) {
          if (!(error instanceof AppError && error.code === 'budget_too_small')) throw error
        }
      }),
      { numRuns: RUNS },
    )
    expect(divided).toBeGreaterThanOrEqual(leastHits(RUNS / 3))
  })
})
