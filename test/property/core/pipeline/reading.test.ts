import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeOperation } from '../../../../src/core/operations/decode.ts'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { explainContent } from '../../../../src/core/pipeline/explain.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { CONSTRUCTS, READING_LEVELS, usualPrice } from '../../../../src/core/reading/constructs.ts'
import { apiWork } from '../../../support/api-work.ts'
import { localContext } from '../../../support/local-context.ts'
import { leastHits, runs } from '../../../support/runs.ts'
import { arbitraryToolText } from '../formats/arbitrary-text.ts'

const context = localContext()

const word = fc.constantFrom('orders', 'stock', 'cart', 'users', 'list', 'main', 'INFO', 'ERROR')
/** Logs and lists, in which most constructs of texts save something. */
const lines = fc
  .record({
    folders: fc.array(word, { minLength: 1, maxLength: 4 }),
    status: fc.array(fc.nat(599), { minLength: 20, maxLength: 60 }),
    kind: fc.nat(3),
  })
  .map(({ folders, status, kind }) => {
    const folder = folders.join('/')
    const lineOf = [
      (n: number, at: number) => `src/components/${folder}/file-${at}.ts:${n}: const found = ${n}`,
      (n: number, at: number) =>
        `12:30:${10 + (at % 50)} GET /api/${folder} answered ${n} in ${at} ms`,
      (n: number) => `\u001b[32m${folder}\u001b[0m is done after ${n} steps`,
      (_: number, at: number) => `${at + 1}\t  the text of ${folder}, line by line`,
    ][kind]!
    return status.map(lineOf).join('\n')
  })
const rows = fc
  .array(
    fc.record({
      id: fc.nat(9_999).map(n => `ORD-2026-${10_000 + n}`),
      of: fc.record({ name: word, size: fc.nat(9) }),
      note: fc.option(word),
    }),
    { minLength: 2, maxLength: 40 },
  )
  .map(all => JSON.stringify(all, null, 2))
const api = fc.constantFrom(...apiWork().map(({ content }) => content))
const content = fc.oneof(lines, lines, rows, api, arbitraryToolText)

it('every level gives back the very input, and is no bigger', () => {
  fc.assert(
    fc.property(content, fc.constantFrom(...READING_LEVELS), (content, reading) => {
      const { answer } = encodeOperation.run({ content, reading }, context)
      expect(answer.tokens.final).toBeLessThanOrEqual(
        answer.tokens.baseline + 6 * (answer.look_alikes ?? 0),
      )
      const { format } = answer
      const decoded = decodeOperation.run({ content: answer.content, format }, context).answer
      if (format === 'passthrough' || decoded.content === content) return
      expect(JSON.parse(decoded.content)).toEqual(JSON.parse(content))
    }),
    { numRuns: runs(60) },
  )
})

it('a higher price never makes its construct appear', () => {
  let used = 0
  fc.assert(
    fc.property(
      content,
      fc.constantFrom(...CONSTRUCTS.filter(construct => construct !== 'brackets')),
      fc.integer({ min: 1, max: 60 }),
      (content, construct, more) => {
        const usesWith = (prices: object) => {
          const pipeline = pipelineSchema.parse({ reading: { prices } })
          const { candidates } = explainContent({ content }, { ...context, pipeline })
          return candidates.find(({ verdict }) => verdict === 'sent')?.constructs[construct] ?? 0
        }
        const { text, share, each } = usualPrice(construct)
        const dearer = usesWith({ [construct]: { text: text + more, share, each: each + more } })
        const before = usesWith({ [construct]: { text, share, each } })
        if (before > 0) used++
        if (dearer > 0) expect(before).toBeGreaterThan(0)
      },
    ),
    { numRuns: runs(60) },
  )
  expect(used).toBeGreaterThanOrEqual(leastHits(1))
})
