import { csv } from '../formats/json/csv.ts'
import { jsonCompact } from '../formats/json/json-compact.ts'
import type { JsonFormat } from '../formats/json/json-format.ts'
import { JSON_FORMATS } from '../formats/json/registry.ts'
import { bracketSurcharge } from '../formats/json/tree/pricer.ts'
import { type TreeStyle, weighsBrackets } from '../formats/json/tree/style.ts'
import { tree, treeInStyle } from '../formats/json/tree/tree.ts'
import { createMarkdown, markdown } from '../formats/text/markdown.ts'
import { TEXT_FORMATS } from '../formats/text/registry.ts'
import type { TextFormat } from '../formats/text/text-format.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import { writeJson } from '../json/write-json.ts'
import { isPriced } from '../reading/price.ts'
import type { TokenCounter } from '../tokens/counter.ts'
import type { EncodingProfile } from './profile/resolve.ts'

/** The formats of a profile, in the order of preference. */
export interface ProfiledFormats {
  readonly values: readonly JsonFormat[]
  readonly texts: readonly TextFormat[]
}

/**
 * Formats that the profile enables, each with the profile's settings. Decoding does not depend on
 * these.
 */
export function profiledFormats(profile: EncodingProfile): ProfiledFormats {
  const isEnabled = ({ id }: { readonly id: string }) => profile.formats.includes(id)
  const style = styleOf(profile)
  return {
    values: JSON_FORMATS.filter(isEnabled).map(format => inProfile(format, profile, style)),
    texts: TEXT_FORMATS.filter(isEnabled).map(format =>
      format === markdown ? createMarkdown({ minCols: profile.minCols }) : format,
    ),
  }
}

function styleOf(profile: EncodingProfile): TreeStyle {
  return {
    lineDepth: profile.recursionDepth,
    maxBracketChars: profile.maxInlineNested,
    minTableRows: profile.minItems,
    minKeyStability: profile.minKeyStability,
    reading: profile.reading,
    minLineMembers: profile.minFields,
  }
}

function inProfile(format: JsonFormat, profile: EncodingProfile, style: TreeStyle): JsonFormat {
  switch (format) {
    case csv:
      return withPrices(csvFrom(profile), style, { isTable: true, nested: nestedInRows })
    case jsonCompact:
      return withPrices(jsonCompact, style, { nested: value => [writeJson(value)] })
    case tree:
      return treeInStyle(style)
    default:
      return format
  }
}

/** A header with one row below it looks like two rows. */
const FEWEST_CSV_ROWS = 2

/** CSV for values with at least so many rows whose keys are alike enough. */
function csvFrom({ minItems, minKeyStability }: EncodingProfile): JsonFormat {
  return {
    ...csv,
    accepts: (value, shape) =>
      csv.accepts(value, shape) &&
      (shape.n_items ?? 0) >= Math.max(FEWEST_CSV_ROWS, minItems) &&
      (shape.key_stability ?? 0) >= minKeyStability,
  }
}

/**
 * The format with the prices of a style; unchanged if the style has none.
 * @param what.nested what the text has in brackets
 */
function withPrices(
  format: JsonFormat,
  style: TreeStyle,
  { isTable = false, nested }: { isTable?: boolean; nested(value: Value): readonly string[] },
): JsonFormat {
  const isPricedTable = isTable && isPriced(style.reading, 'table')
  if (!weighsBrackets(style) && !isPricedTable) return format
  return {
    ...format,
    weigh(value, counter) {
      const content = format.encode(value, counter)
      if (content === null) return null
      const tokens = counter.count(content)
      const uses = isPricedTable ? { table: tokens } : {}
      return { content, tokens, uses, surcharge: nestedSurcharge(nested(value), style, counter) }
    },
  }
}

function nestedSurcharge(
  texts: readonly string[],
  style: TreeStyle,
  counter: TokenCounter,
): number {
  if (!weighsBrackets(style)) return 0
  return texts.reduce((sum, text) => sum + bracketSurcharge(text, counter.count(text), style), 0)
}

function nestedInRows(value: Value): readonly string[] {
  return Array.isArray(value) ? value.flatMap(nestedInMembers) : []
}

function nestedInMembers(value: Value): readonly string[] {
  if (!(value instanceof ObjectValue)) return []
  return value.values
    .filter(member => member instanceof ObjectValue || Array.isArray(member))
    .map(member => writeJson(member))
}
