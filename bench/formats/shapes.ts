import { classify } from '../../src/core/classify/classify.ts'
import { parseJson } from '../../src/core/json/parse-json.ts'
import { ObjectValue, type Value } from '../../src/core/json/value.ts'
import { writeJson } from '../../src/core/json/write-json.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Encoding } from '../../src/core/tokens/profiles.ts'
import { encode } from '../../src/index.ts'
import { type Contents, measureContent, sumOf } from './contents.ts'

/** Results of one shape that are no JSON. */
export interface TextSums {
  readonly shape: string
  results: number
  tokensIn: number
  tokensOut: number
}

/** Results of one shape that are JSON. */
export interface JsonSums extends Contents {
  /**
   * Tokens of all values that are no containers, one a line: what is left without keys and signs.
   */
  readonly values: number
}

export interface ShapeSums {
  /** JSON by shape, the name of each row; `nested_object` also by what it mostly holds. */
  readonly json: readonly JsonSums[]
  readonly text: readonly TextSums[]
}

/** Share of an object's JSON in one array of objects for it to be a page of rows. */
const MOSTLY = 0.8
const PAGE = 'nested_object, mostly one array of objects'
const OTHER_NESTED = 'nested_object, others'

/** Tokens by shape, as the classifier tells it. Results without any token are left out. */
export function measureShapes(
  texts: readonly string[],
  encoding: Encoding,
  counter: TokenCounter,
): ShapeSums {
  const json = new Map<string, JsonSums[]>()
  const text = new Map<string, TextSums>()
  for (const content of texts) {
    const parsed = parseJson(content)
    const value = parsed.ok ? parsed.value : undefined
    const { shape } = classify(content, value)
    if (value instanceof ObjectValue || Array.isArray(value)) {
      const name = shape === 'nested_object' ? (isPage(value) ? PAGE : OTHER_NESTED) : shape
      const rows = json.get(name) ?? []
      json.set(name, rows)
      const values = counter.count(leaves(value).join('\n'))
      rows.push({ ...measureContent(name, content, encoding, counter), values })
    } else {
      const { tokens } = encode({ content, tokenizer: encoding })
      const sums = text.get(shape) ?? { shape, results: 0, tokensIn: 0, tokensOut: 0 }
      text.set(shape, sums)
      sums.results++
      sums.tokensIn += tokens.baseline
      sums.tokensOut += tokens.final
    }
  }
  return {
    json: [...json]
      .map(([name, rows]) => ({
        ...sumOf(name, rows),
        values: rows.reduce((sum, { values }) => sum + values, 0),
      }))
      .toSorted((a, b) => b.compact - a.compact),
    text: [...text.values()].toSorted((a, b) => b.tokensIn - a.tokensIn),
  }
}

/** Whether an object is a page of rows: an array of objects, and little beside it. */
function isPage(value: Value): boolean {
  if (!(value instanceof ObjectValue)) return false
  const whole = writeJson(value).length
  return value.values.some(
    member =>
      Array.isArray(member) &&
      member.length > 0 &&
      member.every(item => item instanceof ObjectValue) &&
      writeJson(member).length >= MOSTLY * whole,
  )
}

function leaves(value: Value): string[] {
  if (value instanceof ObjectValue) return value.values.flatMap(leaves)
  if (Array.isArray(value)) return value.flatMap(leaves)
  return [typeof value === 'string' ? value : writeJson(value)]
}
