import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  items,
  members,
  RANGE,
  type Selection,
} from '../../../../../src/core/json/bytes/json-node.ts'
import { readJson } from '../../../../../src/core/json/bytes/read-json.ts'
import { runs } from '../../../../support/runs.ts'
import { writeLoosely } from './loose-json.ts'

const LIMITS = { maxBytes: 1 << 20, maxDepth: 64, maxValues: 10_000 }
const SELECTIONS: readonly Selection[] = [
  RANGE,
  items(items(RANGE)),
  members({ a: members({ b: RANGE }), b: items(members({ a: RANGE })) }),
]

/** What JSON is made of, put together without its rules. */
const tokens = fc
  .array(
    fc.constantFrom(
      ...['{', '}', '[', ']', ':', ',', '"', '"a"', '"b":', '"\\u0061":', '\\', '"\\u00"', '"\\x"'],
      ...['0', '1', '-', '.', 'e', '+', '-0.5e+10', '01', 'true', 'null', 'fals', 'e', ' ', '\n'],
      ...['\u0000', '\u00a0', '\ufeff', 'é', '"\u0001"', '"\u007f"'],
    ),
    { maxLength: 12 },
  )
  .map(parts => parts.join(''))

it('accepts what JSON.parse accepts, and only that', () => {
  const text = fc.oneof(
    tokens,
    fc.tuple(fc.jsonValue(), fc.integer()).map(([value, seed]) => writeLoosely(value, seed)),
    fc.tuple(fc.json(), fc.nat(80)).map(([json, length]) => json.slice(0, length)),
  )
  fc.assert(
    fc.property(text, fc.constantFrom(...SELECTIONS), (json, selection) => {
      const node = readJson(Buffer.from(json), selection, LIMITS)
      expect(node !== null, json).toBe(isJson(json))
      if (node !== null)
        expect(json.trim()).toBe(Buffer.from(json).toString('utf8', node.start, node.end))
    }),
    { numRuns: runs(3000) },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
