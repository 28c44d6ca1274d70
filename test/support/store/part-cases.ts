import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/base/errors.ts'
import { parsePart } from '../../../src/core/parts/parse-part.ts'
import { selectPart } from '../../../src/core/parts/select-part.ts'
import { keep, text } from '../../unit/store/inline-store.ts'
import { runs } from '../runs.ts'

import type { OpenStore } from './open-store.ts'

const CHUNK = 65_536

/** Bodies whose lines end on, before and after the ends of chunks. */
const body = fc
  .array(
    fc.oneof(
      fc.constantFrom(1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK),
      fc.nat({ max: 40_000 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .chain(lengths => fc.tuple(fc.constant(lengths), fc.boolean()))
  .map(
    ([lengths, ends]) =>
      lengths.map((n, i) => String(i % 10).repeat(n)).join('\n') + (ends ? '\n' : ''),
  )

const edge = fc.constantFrom(0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK)
const query = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.nat({ max: 4 }))
    .map(([a, n]) => ({ lines: `${a}-${a + n}` })),
  fc.integer({ min: 1, max: 9 }).map(n => ({ lines: `-${n}` })),
  fc.tuple(edge, edge).map(([a, n]) => ({ bytes: `${a}-${a + n}` })),
  fc.integer({ min: 1, max: 200_000 }).map(n => ({ bytes: `-${n}` })),
  fc.constant({ grep: '3', context: '1' }),
)

/** Parts of any bodies are what they are of the whole. */
export function partCases(open: OpenStore, most: number): void {
  test('a part read from its chunks is the part of the whole', async () => {
    const { store } = await open({ compressFromBytes: null })
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.array(query, { minLength: 5, maxLength: 5 }),
        async (whole, queries) => {
          const { hash: ref } = await keep(store, whole)
          for (const each of queries) {
            const selector = parsePart(each)!
            const result = await store.part({ tenant: 'a', ref }, selector)
            try {
              const { content, ...where } = selectPart(Buffer.from(whole), selector)
              if (!result.ok) throw new Error(`refused: ${result.detail}`)
              expect(text(result.part.content)).toBe(text(content))
              expect(result.part).toMatchObject(where)
              expect(result.bytes).toBe(whole.length)
            } catch (error) {
              if (!(error instanceof AppError)) throw error
              expect(result).toMatchObject({ reason: 'invalid_request', detail: error.detail })
            }
          }
        },
      ),
      { numRuns: runs(most) },
    )
  })
}
