import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPlainly } from '../../../bench/comprehension/readers.ts'
import { csv } from '../../../src/core/formats/csv.ts'
import { kv } from '../../../src/core/formats/kv.ts'
import { tree } from '../../../src/core/formats/tree/tree.ts'
import { classify } from '../../../src/core/shape/classify.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { writeJson } from '../../../src/core/value/write-json.ts'
import { arbitraryTree } from './tree-values.ts'

/** `PLAIN_RUNS=200000` for a long run. */
const RUNS = Number(process.env['PLAIN_RUNS'] ?? 2000)

/** What a notation chooses by: texts of the grammar that a choice by tokens would never send. */
const WHIMS: readonly ((text: string) => number)[] = [
  text => text.length,
  text => text.split(/[[{]/).length,
  text => text.split('\n').length,
  text => -text.length,
]

function counterOf(count: (text: string) => number): TokenCounter {
  return { id: 'whim', exact: false, count, countUpTo: count }
}

/** Strings that are JSON compare by what they say: a plain reader does not ask how they are spaced. */
function meaning(value: unknown): unknown {
  if (typeof value === 'string' && /^[[{]/.test(value)) {
    try {
      // Written once, so that numbers have the spelling that a reader gives them.
      return { json: meaning(JSON.parse(JSON.stringify(JSON.parse(value)))) }
    } catch {
      return value
    }
  }
  if (Array.isArray(value)) return value.map(meaning)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, meaning(inner)]))
}

describe.each([csv, kv, tree])('$id', notation => {
  it('says to a reader who knows only the grammar what it was made of', () => {
    let read = 0
    fc.assert(
      fc.property(arbitraryTree, fc.constantFrom(...WHIMS), (value, whim) => {
        const accepts = notation.accepts(value, classify('', value))
        const text = accepts ? notation.encode(value, counterOf(whim)) : null
        if (text === null) return
        read++
        const json: unknown = JSON.parse(writeJson(value))
        expect(meaning(readPlainly(`${notation.id}@1`, text))).toEqual(meaning(json))
      }),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThan(RUNS / 20)
  })
})
