import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { classify } from '../../../../src/core/classify/classify.ts'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues, type Value } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import {
  arbitraryDocument,
  arbitraryEdit,
  arbitraryText,
  withPythonNumbers,
} from './arbitrary-value.ts'

const RUNS = fewRuns(3_000, 75)

const document = arbitraryDocument.map(withPythonNumbers)

/**
 * The least share of the random documents that each format must write, lest the test prove
 * nothing.
 */
const LEAST_ENCODED = { csv: 0.2, json_compact: 1, tree: 0.9 }

describe.each(JSON_FORMATS)('$id', format => {
  it('gives back every value that it writes', () => {
    let encoded = 0
    fc.assert(
      fc.property(document, value => {
        const text = encode(value)
        if (text === null) return
        encoded++
        expect(text.isWellFormed()).toBe(true)
        expect(equalValues(format.decode(text), value), text).toBe(true)
      }),
      { numRuns: RUNS },
    )
    const share = LEAST_ENCODED[format.id as keyof typeof LEAST_ENCODED]
    expect(encoded).toBeGreaterThanOrEqual(leastHits(RUNS * share))
  })

  it('reads altered text as some other value, or says that it cannot', () => {
    fc.assert(
      fc.property(document, fc.array(arbitraryEdit, { minLength: 1 }), (value, edits) => {
        const text = encode(value)
        if (text !== null) readsOrRefuses(edits.reduce((edited, edit) => edit(edited), text))
      }),
      { numRuns: RUNS },
    )
  })

  it('reads any text as a value, or says that it cannot', () => {
    fc.assert(fc.property(arbitraryText, readsOrRefuses), { numRuns: RUNS })
  })

  function encode(value: Value): string | null {
    return format.accepts(value, classify('', value)) ? format.encode(value) : null
  }

  function readsOrRefuses(text: string): void {
    let value: Value
    try {
      value = format.decode(text)
    } catch (error) {
      expect(error).toBeInstanceOf(AppError)
      expect((error as AppError).code).toBe('not_decodable')
      expect((error as AppError).detail).toMatch(/^line \d+: /)
      return
    }
    // Whatever was read is a proper value: JSON says it, and so does the format, unless it
    // declines.
    const json = parseJson(writeJson(value))
    expect(json.ok && equalValues(json.value, value)).toBe(true)
    const again = encode(value)
    if (again !== null) expect(equalValues(format.decode(again), value)).toBe(true)
  }
})
