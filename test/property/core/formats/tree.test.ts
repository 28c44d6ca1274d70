import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { FEWEST_TOKENS, type TreeStyle } from '../../../../src/core/formats/json/tree/style.ts'
import { tree, treeInStyle } from '../../../../src/core/formats/json/tree/tree.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues, type Value } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { createReading } from '../../../../src/core/reading/price.ts'
import type { TokenCounter } from '../../../../src/core/tokens/counter.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { withPythonNumbers } from './arbitrary-value.ts'
import { arbitraryCut, arbitraryTree } from './tree-values.ts'

const RUNS = fewRuns(5_000, 30)

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

/** What constructs may cost. */
const STYLES: readonly TreeStyle[] = [
  FEWEST_TOKENS,
  { ...FEWEST_TOKENS, reading: createReading('balanced', { affix: { each: 3 } }) },
  { ...FEWEST_TOKENS, reading: createReading('plain') },
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
      fc.property(
        arbitraryTree.map(withPythonNumbers),
        fc.constantFrom(...WHIMS),
        fc.constantFrom(...STYLES),
        (value, whim, style) => {
          const text = isTree(value) ? treeInStyle(style).encode(value, counterOf(whim)) : null
          if (text === null) return
          expect(text.isWellFormed() && !text.startsWith('\ufeff')).toBe(true)
          expect(equalValues(tree.decode(text), value), text).toBe(true)
        },
      ),
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
