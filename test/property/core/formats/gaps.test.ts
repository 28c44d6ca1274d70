import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutGaps } from '../../../../src/core/formats/gaps.ts'
import { csv } from '../../../../src/core/formats/json/csv.ts'
import { tree } from '../../../../src/core/formats/json/tree/tree.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues, ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { ALL, type KeptPart } from '../../../../src/core/reduce/budget/priced-node.ts'
import { pruneValue } from '../../../../src/core/reduce/budget/prune-value.ts'
import { leastHits, runs } from '../../../support/runs.ts'

const FORMATS = { csv, tree }

function parsed(json: unknown): Value {
  const read = parseJson(JSON.stringify(json))
  if (!read.ok) throw new Error('no JSON')
  return read.value
}

const masks = fc
  .array(fc.boolean(), { minLength: 4, maxLength: 40 })
  .filter(mask => mask.filter(Boolean).length > 1)
const keptBy = (mask: readonly boolean[]): KeptPart => ({
  kind: 'some',
  children: mask.map(isKept => (isKept ? ALL : null)),
})

describe.each(Object.entries(FORMATS))('gaps in a table of %s', (_, format) => {
  it('are rows in their places, and count what is missing there', () => {
    fc.assert(
      fc.property(masks, fc.string(), (mask, note) => {
        const list = parsed(mask.map((_, id) => ({ id, name: `n${id % 3}`, note })))
        const text = format.encode(pruneValue(list, keptBy(mask), true).value) ?? ''
        const lines = text.split('\n')
        const rows = lines.slice(format === csv ? 1 : 2)
        let next = 0
        for (const row of rows) {
          const gap = /^… (\d+) not shown$/.exec(row)
          const count = gap === null ? 1 : Number(gap[1])
          if (gap === null) expect(row.split(',')[0]).toBe(String(next))
          else expect(mask.slice(next, next + count)).not.toContain(true)
          next += count
        }
        expect(next).toBe(mask.length)
        const shown = mask.filter(Boolean).length
        const head = shown === mask.length ? `[${shown}]:` : `[${shown} of ${mask.length}]:`
        if (format === tree) expect(lines[0]).toBe(head)
      }),
      { numRuns: runs(200) },
    )
  })
})

const scalar = fc.oneof(fc.string(), fc.nat(9), fc.constant(null), fc.boolean())
const { any } = fc.letrec(tie => ({
  any: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('any'), { maxLength: 6 }),
    fc.array(fc.record({ a: scalar, b: tie('any') }), { maxLength: 6 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd e'), tie('any'), { maxKeys: 4 }),
  ),
}))

/** Leaves out items of every list, by turns. */
function keptOf(value: Value, omits: (at: number) => boolean): KeptPart {
  if (Array.isArray(value)) {
    const children = value.map((item, at) => (omits(at) ? null : keptOf(item as Value, omits)))
    return { kind: 'some', children }
  }
  if (!(value instanceof ObjectValue)) return ALL
  return { kind: 'some', children: value.values.map(item => keptOf(item, omits)) }
}

it('are none in data that imitates them without one', () => {
  const text = 'id,state\n1,\\… 5 not shown\n2,a[8 of 64]:'
  expect(withoutGaps(text)).toEqual({ text, gaps: [] })
})

it('leave what is written for the other items', () => {
  let written = 0
  fc.assert(
    fc.property(any, fc.nat(3), (json, phase) => {
      const value = parsed(json)
      const kept = keptOf(value, at => (at + phase) % 3 !== 0)
      const marked = pruneValue(value, kept, true)
      const plain = pruneValue(value, kept)
      const missing = plain.omissions.reduce((sum, { omitted }) => sum + omitted, 0)
      for (const format of Object.values(FORMATS)) {
        const text = format.encode(marked.value)
        if (text === null) continue
        const { text: rest, gaps } = withoutGaps(text)
        expect(equalValues(format.decode(rest), plain.value), text).toBe(true)
        const told = gaps.reduce((a, b) => a + b, 0)
        // What all items of a column are is written once, above them.
        if (/=.*… \d/.test(text)) expect(told).toBeLessThanOrEqual(missing)
        else expect(told).toBe(missing)
        if (gaps.length > 0) written++
      }
    }),
    { numRuns: runs(500) },
  )
  expect(written).toBeGreaterThan(leastHits(runs(500) / 5))
})
