import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues } from '../../../../src/core/json/value.ts'
import { decode, encode } from '../../../../src/index.ts'
import { anyText } from '../../../support/any-text.ts'
import { runs } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'

const text = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.constantFrom(
    '',
    'null',
    'true',
    '-0',
    '1e5',
    '[1]',
    '{"a":1}',
    '"x"',
    'a,b',
    'a\nb',
    '> [ref: 0a1b2c3d]',
  ),
)
const key = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom('id', '__proto__', '1', '', 'a:b', 'a,b'),
)
const scalar = fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
const { tree } = fc.letrec(tie => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('tree'), { maxLength: 6 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 6 }),
  ),
}))
/** Rows that mostly have the same keys, as tools answer. */
const rows = fc
  .uniqueArray(key, { minLength: 1, maxLength: 5 })
  .chain(keys =>
    fc.array(fc.record(Object.fromEntries(keys.map(k => [k, tree])), { requiredKeys: [] })),
  )

function check(content: string): void {
  const answer = encode({ content })
  expect(answer.lossless).toBe(true)
  expect(answer.tokens.final).toBeLessThanOrEqual(
    answer.tokens.baseline + 6 * (answer.look_alikes ?? 0),
  )
  const saved = answer.tokens.baseline - answer.tokens.final
  const isEscaped = answer.look_alikes !== undefined
  expect(answer.savings.encoder_tokens).toBe(isEscaped ? Math.max(0, saved) : saved)
  const decoded = decode({ content: answer.content, format: answer.format })
  const before = parseJson(content)
  // Text comes back character for character.
  if (answer.format === 'passthrough' || !before.ok) {
    expect(decoded.content).toBe(content)
    return
  }
  const after = parseJson(decoded.content)
  expect(after.ok && equalValues(before.value, after.value)).toBe(true)
}

describe('encode', () => {
  it('restores any JSON, indented or not', () => {
    fc.assert(
      fc.property(fc.oneof(tree, rows), fc.constantFrom(0, 1, 2, '\t'), (value, indent) => {
        check(JSON.stringify(value, null, indent))
      }),
      { numRuns: fewRuns(1_500, 30) },
    )
  })

  it('passes any text through, or restores it', () => {
    fc.assert(fc.property(anyText({ maxLength: 300 }), check), {
      numRuns: runs(500),
    })
  })

  it('restores JSON that was damaged, as the text that it is', () => {
    fc.assert(
      fc.property(tree, fc.nat(), text, (value, at, patch) => {
        const json = JSON.stringify(value, null, 1)
        const cut = at % (json.length + 1)
        check(json.slice(0, cut) + patch + json.slice(cut + 1))
      }),
      { numRuns: fewRuns(1_000, 20) },
    )
  })
})
