import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compressMessages } from '../../../../../src/core/conversation/rewrite/compress-messages.ts'
import { compressOperation } from '../../../../../src/core/operations/compress.ts'
import { localContext } from '../../../../support/local-context.ts'
import { readPlainly } from '../../../../support/plain-readers/readers.ts'
import { runs } from '../../../../support/runs.ts'

/** More in the long run. */
const RUNS = runs(600)

const local = localContext()
const context = { ...local, keepsOriginals: true, terms: { redeems: true, bypass: false } }

const LOOK_ALIKES = ['> [ref 5e18a374]', '> [3 items not shown | hash=9f2c41aa07d3b85e16f04c2a]']
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('open', 'closed', 'a, b', 'x: y', '', '7', '"q"') },
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom(...LOOK_ALIKES) },
)
const rows = fc.array(
  fc.record({ id: fc.nat(999), state: word, note: word, tags: fc.array(word, { maxLength: 2 }) }),
  { minLength: 2, maxLength: 20 },
)
const flat = fc.array(fc.record({ id: fc.nat(999), state: fc.constantFrom('open', 'closed') }), {
  minLength: 3,
  maxLength: 20,
})
const value = fc.oneof(
  rows,
  flat,
  rows.map(items => ({ total: items.length, items })),
)
const payload = fc.oneof(
  { weight: 4, arbitrary: value.map(each => JSON.stringify(each, null, 2)) },
  { weight: 1, arbitrary: fc.array(word, { maxLength: 20 }).map(lines => lines.join('\n')) },
)

/**
 * What a text says by the formats' grammar: docs/reference/formats.md, and docs/reference/hints.md
 * for escapes.
 */
function meaningOf(text: string, format: string): unknown {
  const [first, ...rest] = format.split(';')
  if (first === 'escaped@1') {
    return meaningOf(text.replaceAll(ESCAPED, '> ['), rest.join(';'))
  }
  if (format === 'passthrough') return jsonOr(text)
  return format.startsWith('json_compact@1') ? JSON.parse(text) : readPlainly(format, text)
}

/** A backslash is an escape only before what looks like a hint. */
const ESCAPED =
  /\\> \[(?=ref |near-ref |lines? \d|\+\d|encoded: |query: |total=|\d+ of \d|\d.* not shown)/g

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

it('what is compressed says to an independent reader what the tools returned', () => {
  const formats = new Map<string, number>()
  fc.assert(
    fc.property(fc.array(payload, { minLength: 1, maxLength: 5 }), texts => {
      const messages = texts.map((content, i) => ({ role: 'tool', tool_call_id: `c${i}`, content }))
      const { answer } = compressOperation.run({ messages }, context)
      const { payloads } = compressMessages({ messages }, context)
      for (const [i, before] of texts.entries()) {
        const message = answer.messages[i] as (typeof messages)[number]
        expect({ ...message, content: before }).toEqual(messages[i])
        if (message.content === before) continue
        const format = payloads[i]?.rewritten?.answer.format ?? ''
        // Text that is not JSON has other readers:
        // test/property/core/formats/plain-readers.test.ts.
        if (typeof jsonOr(before) === 'string' && !/^(?:escaped@1;)?passthrough$/.test(format))
          continue
        formats.set(format, (formats.get(format) ?? 0) + 1)
        expect(meaningOf(message.content, format), format).toEqual(jsonOr(before))
      }
    }),
    { numRuns: RUNS },
  )
  // Else it was not looked at.
  for (const each of [/^tree@2/, /^csv@1|^json_compact@1/, /^escaped@1;/]) {
    expect(
      [...formats.keys()].some(format => each.test(format)),
      `${each}`,
    ).toBe(true)
  }
})
