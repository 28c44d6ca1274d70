import { encode as encodeToon } from '@toon-format/toon'
import { JSON_FORMATS } from '../../src/core/formats/json/registry.ts'
import { parseJson } from '../../src/core/json/parse-json.ts'
import type { Value } from '../../src/core/json/value.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Encoding } from '../../src/core/tokens/profiles.ts'
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
  // The compact text keeps spellings of numbers and duplicate keys, which the built-in writer does
  // not.
  const compactText = decode({ content: text, format: 'json_compact@1' }).content
  const compact = counter.count(compactText)
  const toon = counter.count(encodeToon(data))
  const answer = encode({ content: text, tokenizer: encoding })
  if (answer.format !== 'passthrough') {
    const restored = decode({ content: answer.content, format: answer.format }).content
    if (restored !== compactText) throw new Error(`${name} does not come back`)
  }
  const ours = answer.tokens.final
  return {
    name,
    files: 1,
    pretty: counter.count(pretty),
    compact,
    toon,
    other: Math.min(compact, ...otherTexts(text).map(other => counter.count(other))),
    ours,
    above: ours > compact ? 1 : 0,
  }
}

function otherTexts(text: string): readonly string[] {
  const parsed = parseJson(text)
  if (!parsed.ok) return []
  const { value } = parsed
  return JSON_FORMATS.filter(({ id }) => id === 'csv')
    .map(format => format.encode(value as Value))
    .filter(other => other !== null)
}

/** The sums of some rows. */
export function sumOf(name: string, rows: readonly Contents[]): Contents {
  const sum = (of: (row: Contents) => number): number =>
    rows.reduce((total, row) => total + of(row), 0)
  return {
    name,
    files: sum(row => row.files),
    pretty: sum(row => row.pretty),
    compact: sum(row => row.compact),
    toon: sum(row => row.toon),
    other: sum(row => row.other),
    ours: sum(row => row.ours),
    above: sum(row => row.above),
  }
}
