import fc from 'fast-check'
import { expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import {
  NOTHING_SAVED,
  readStored,
  sumOfSent,
  writeStored,
} from '../../../../../src/core/conversation/rewrite/stored-rewrite.ts'
import type { OperationContext } from '../../../../../src/core/operations/operation.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { resultRecords } from '../../../../support/recording-proxy.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { counters } from '../../../../support/vocabularies.ts'

const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }
const context: OperationContext = {
  counters,
  maxDepth: 100,
  maxDecodedChars: 1_000_000,
  keepsOriginals: false,
}

const sumOf = (digests: readonly number[]) => digests.reduce(sumOfSent, 0)
const digest = fc.integer({ min: 0, max: 2 ** 32 - 1 })

it('is another one for the same texts in another order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(digest, { minLength: 2, maxLength: 6 }), fc.nat(4), (all, at) => {
      const from = at % (all.length - 1)
      const swapped = all.with(from, all[from + 1]!).with(from + 1, all[from]!)
      expect(sumOf(swapped)).not.toBe(sumOf(all))
    }),
    { numRuns: 1_000, seed: 18 },
  )
})

it('is another one for one more text, and for another one at any place', () => {
  fc.assert(
    fc.property(
      fc.array(digest, { minLength: 1, maxLength: 6 }),
      digest,
      fc.nat(),
      (all, to, n) => {
        const at = n % all.length
        fc.pre(all[at] !== to)
        expect(sumOf(all.with(at, to))).not.toBe(sumOf(all))
      },
    ),
    { numRuns: 1_000 },
  )
  expect(sumOf([5])).not.toBe(sumOf([5, 0]))
})

/** Tables of one size, each with its own words. */
const tables = ['one', 'two', 'three'].map(word =>
  JSON.stringify(
    Array.from({ length: 8 }, (_, id) => ({ id, name: `${word} ${id}` })),
    null,
    2,
  ),
)
const CONVERSATION = JSON.stringify({
  model: 'gpt-5',
  messages: tables.flatMap((content, n) => [
    {
      role: 'assistant',
      tool_calls: [{ id: `${n}`, type: 'function', function: { name: 'list', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `${n}`, content },
  ]),
})

it('tells that a prefix changed if two earlier results left in each other’s form', () => {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  const send = (recalled: Readonly<Record<string, Uint8Array>>) => {
    const rewrites = { tenant: '', memory, recalled }
    return rewriteRequest(bytesOf(CONVERSATION), 'openai_chat', LIMITS, { ...context, rewrites })
  }
  const records = resultRecords(send({}).records)
  expect(records).toHaveLength(3)
  const stored = records.map(({ bytes }) => readStored(bytes)!)
  /** The first two results as they are on record, each with the digest of what it left as. */
  const sentAs = (...digests: readonly [number, number]) => {
    const forms = digests.map((each, n) => {
      const literal = new TextEncoder().encode(`"form ${each}"`)
      const sent = sumOf(digests.slice(0, n + 1))
      return [
        records[n]!.key,
        writeStored({ ...stored[n]!, literal, saved: NOTHING_SAVED, digest: each, sent }),
      ] as const
    })
    const third = writeStored({ ...stored[2]!, sent: sumOf([5, 9, stored[2]!.digest]) })
    return Object.fromEntries([...forms, [records[2]!.key, third] as const])
  }
  expect(send(sentAs(5, 9)).report.prefix_changed).toBe(false)
  expect(send(sentAs(9, 5)).report.prefix_changed).toBe(true)
})
