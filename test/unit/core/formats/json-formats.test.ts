import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { classify } from '../../../../src/core/classify/classify.ts'
import { csv } from '../../../../src/core/formats/json/csv.ts'
import { formatId, type JsonFormat } from '../../../../src/core/formats/json/json-format.ts'
import { findJsonFormat, JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { PASSTHROUGH } from '../../../../src/core/formats/passthrough.ts'
import { DEFAULT_MAX_DEPTH, parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues, type Value } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { CASES, type Case, UNDECODABLE } from './cases.ts'

function read(json: string): Value {
  const parsed = parseJson(json)
  if (!parsed.ok) throw new Error(`${parsed.reason} at ${parsed.offset}`)
  return parsed.value
}

/** The text of an accepted value, after checking that it is read back as the same value. */
function roundTrip(format: JsonFormat, value: Value): string | null {
  if (!format.accepts(value, classify('', value))) return null
  const text = format.encode(value)
  if (text === null) return null
  const decoded = format.decode(text)
  if (!equalValues(decoded, value)) expect(writeJson(decoded)).toBe(writeJson(value))
  expect(equalValues(decoded, value)).toBe(true)
  return text
}

describe.each(Object.entries(CASES))('%s', (_, c: Case) => {
  const value = read(c.json)

  it.each(JSON_FORMATS)('comes back from $id', format => {
    const text = roundTrip(format, value)
    // Nothing in a text may be lost in UTF-8, or to a reader that drops a BOM at the start.
    expect(text?.isWellFormed() ?? true).toBe(true)
    expect(text?.startsWith('\ufeff') ?? false).toBe(false)
  })

  it('is written by csv as in the table', () => {
    expect(roundTrip(csv, value)).toBe(c.csv)
    if (c.csv === null) expect(csv.encode(value)).toBeNull()
  })
})

describe('text that the format did not write', () => {
  it.each(UNDECODABLE)('%s refuses %j and names line %i', (format, text, line) => {
    let error: unknown
    try {
      findJsonFormat(format)!.decode(text)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({
      code: 'not_decodable',
      detail: expect.stringMatching(new RegExp(`^line ${line}: `)),
    })
  })

  it('is not quoted in the error, since it may be private', () => {
    for (const format of JSON_FORMATS) {
      expect(() => format.decode('a: 1\n"secret')).toThrow(/^(?!.*secret)/)
    }
  })
})

describe('the registry', () => {
  it('finds each format under its name and version only', () => {
    for (const format of JSON_FORMATS) {
      expect(findJsonFormat(formatId(format))).toBe(format)
      expect(findJsonFormat(format.id)).toBeUndefined()
      expect(findJsonFormat(`${format.id}@${format.version + 1}`)).toBeUndefined()
    }
    expect(findJsonFormat(PASSTHROUGH)).toBeUndefined()
    expect(findJsonFormat('__proto__')).toBeUndefined()
  })
})

describe('depth', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

  it.each([
    ['csv@1', `[{"a":${nested(DEFAULT_MAX_DEPTH - 2)}}]`],
    ['tree@2', `{"a":${nested(DEFAULT_MAX_DEPTH - 1)}}`],
    ['json_compact@1', nested(DEFAULT_MAX_DEPTH)],
  ])('%s takes a value of the greatest depth', (format, json) => {
    expect(roundTrip(findJsonFormat(format)!, read(json))).not.toBeNull()
  })
})

/** For the large inputs, on a machine that is busy with other things. */
const PATIENT = { timeout: 60_000 }
/** Rows or columns; a short run shows the same with fewer. */
const MANY = FULL_RUNS ? 50_000 : 4_000

describe('size', PATIENT, () => {
  it('takes tens of thousands of rows, and of columns', () => {
    const rows = Array.from({ length: MANY }, (_, i) => `{"id":${i},"t":"a, b","v":null}`)
    expect(roundTrip(csv, read(`[${rows.join()}]`))).not.toBeNull()
    const members = Array.from({ length: MANY }, (_, i) => `"k${i}":0`).join()
    expect(roundTrip(csv, read(`[{${members}},{${members}}]`))).not.toBeNull()
  })

  it('never writes more than a few cells for each member, so output and work stay linear', () => {
    for (const rows of [10, 1000, MANY]) {
      const distinct = Array.from({ length: rows }, (_, i) => `{"k${i}":1}`).join()
      expect(csv.encode(read(`[${distinct}]`))).toBeNull()
      // One wide row and many narrow ones: the same trap the other way round.
      const wide = Array.from({ length: rows }, (_, i) => `"k${i}":1`).join()
      const narrow = '{"k0":1},'.repeat(rows)
      const json = `[${narrow}{${wide}}]`
      expect(csv.encode(read(json))?.length ?? 0).toBeLessThan(2 * json.length)
    }
  })

  it.each([
    ['csv@1', 'a,b'],
    ['json_compact@1', '['],
  ])('%s refuses long hostile text without stalling', (id, start) => {
    const format = findJsonFormat(id)!
    for (const filler of ['\n', '"', '""', ',', '\n"', ': ', '[', '\\', '1', '-', ' ', '"\n,']) {
      // A quadratic decoder would need 10^10 steps here and run into the test's time limit.
      expect(() => format.decode(`${start}\n${filler.repeat(200_000)}\u0000"`)).toThrow(AppError)
    }
  })
})
