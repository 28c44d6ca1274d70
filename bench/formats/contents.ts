import { encode as encodeToon } from '@toon-format/toon'
import { NOTATIONS } from '../../src/core/formats/registry.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Encoding } from '../../src/core/tokens/vocabulary.ts'
import { parseJson } from '../../src/core/value/parse-json.ts'
import type { Value } from '../../src/core/value/value.ts'
import { decode, encode } from '../../src/index.ts'

/** Tokens of one JSON text, or of several together, written in several ways. */
export interface Contents {
  readonly name: string
  readonly files: number
  /** JSON with two spaces of indentation. */
  readonly pretty: number
  readonly compact: number
  readonly toon: number
  /** The cheapest notation for each file but `tree`. */
  readonly other: number
  readonly ours: number
  /** Files for which ours takes more than compact JSON; must be 0. */
  readonly above: number
}

/** @throws Error if what `encode` sends does not stand for the very value */
export function measureContent(
  name: string,
  text: string,
  encoding: Encoding,
  counter: TokenCounter,
): Contents {
  const data: unknown = JSON.parse(text)
  const pretty = JSON.stringify(data, null, 2)
  // The compact text keeps spellings of numbers and duplicate keys, which the built-in writer does not.
  const compact = counter.count(decode({ content: text, format: 'json_compact@1' }).content)
  const answer = encode({ content: text, tokenizer: encoding })
  const restored = decode({ content: answer.content, format: answer.format }).content
  const same =
    answer.format === 'passthrough' ||
    restored === decode({ content: text, format: 'json_compact@1' }).content
  if (!same) throw new Error(`${name} does not come back`)
  const ours = answer.tokens.final
  return {
    name,
    files: 1,
    pretty: counter.count(pretty),
    compact,
    toon: counter.count(encodeToon(data)),
    other: Math.min(compact, ...otherTexts(text).map(other => counter.count(other))),
    ours,
    above: ours > compact ? 1 : 0,
  }
}

function otherTexts(text: string): readonly string[] {
  const parsed = parseJson(text)
  if (!parsed.ok) return []
  const { value } = parsed
  return NOTATIONS.filter(({ id }) => id === 'csv' || id === 'kv')
    .map(notation => notation.encode(value as Value))
    .filter(other => other !== null)
}

/** The sums of some rows. */
export function sumOf(name: string, rows: readonly Contents[]): Contents {
  const sum = { name, files: 0, pretty: 0, compact: 0, toon: 0, other: 0, ours: 0, above: 0 }
  for (const row of rows) {
    sum.files += row.files
    sum.pretty += row.pretty
    sum.compact += row.compact
    sum.toon += row.toon
    sum.other += row.other
    sum.ours += row.ours
    sum.above += row.above
  }
  return sum
}
