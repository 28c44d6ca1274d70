import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tree } from '../../../src/core/formats/tree/tree.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { equalValues } from '../../../src/core/value/equal-values.ts'
import { parseJson } from '../../../src/core/value/parse-json.ts'
import type { Value } from '../../../src/core/value/value.ts'
import { writeJson } from '../../../src/core/value/write-json.ts'
import { AppError } from '../../../src/errors.ts'
import { arbitraryCut, arbitraryTree } from './tree-values.ts'

/** `TREE_RUNS=200000` for a long run. */
const RUNS = Number(process.env['TREE_RUNS'] ?? 5000)

/** Texts of the grammar that a choice by length would never send. */
const WHIMS: readonly ((text: string) => number)[] = [
  text => text.length,
  // Prefers lines and tables to brackets, and the other way round.
  text => text.split(/[[{]/).length,
  text => text.split('\n').length,
  text => -text.length,
  text => text.split(',').length,
  text => text.split(' ').length,
  text => text.split('"').length,
]

function counterOf(count: (text: string) => number): TokenCounter {
  return { id: 'whim', exact: false, count, countUpTo: count }
}

function isTree(value: Value): boolean {
  return tree.accepts(value, { shape: 'prose', inner_formats: [] } as never)
}

describe('tree', () => {
  it('gives back every value, whatever it finds cheap', () => {
    fc.assert(
      fc.property(arbitraryTree, fc.constantFrom(...WHIMS), (value, whim) => {
        const text = isTree(value) ? tree.encode(value, counterOf(whim)) : null
        if (text === null) return
        expect(text.isWellFormed() && !text.startsWith('\ufeff')).toBe(true)
        expect(equalValues(tree.decode(text), value), text).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  it('reads altered text as some other value, or says that it cannot', () => {
    fc.assert(
      fc.property(
        arbitraryTree,
        fc.constantFrom(...WHIMS),
        fc.array(arbitraryCut, { minLength: 1, maxLength: 3 }),
        (value, whim, cuts) => {
          const text = isTree(value) ? tree.encode(value, counterOf(whim)) : null
          if (text !== null) readsOrRefuses(cuts.reduce((cut, edit) => edit(cut), text))
        },
      ),
      { numRuns: RUNS },
    )
  })
})

function readsOrRefuses(text: string): void {
  let value: Value
  try {
    value = tree.decode(text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error.detail).toMatch(/^line \d+: /)
    return
  }
  const json = parseJson(writeJson(value))
  expect(json.ok && equalValues(json.value, value)).toBe(true)
}
