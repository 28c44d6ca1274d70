import type { Value } from '../../../json/value.ts'
import type { Uses } from '../../../reading/constructs.ts'
import { isPriced, readingPrice } from '../../../reading/price.ts'
import { draftPricer, type Forms, KnownParts } from './draft.ts'
import { encodeTree } from './encode-tree.ts'
import { findShapes } from './find-shapes.ts'
import { collectKeyLists } from './key-lists.ts'
import { KnownTables } from './known-tables.ts'
import type { Pricer } from './pricer.ts'
import { type Shapes, writeDeclaration } from './shape.ts'
import { freeNames } from './shape-names.ts'
import { weighsBrackets } from './style.ts'
import { addUses, priceOfUses, usesOf } from './uses.ts'
import { type WrittenText, writtenLists } from './written-lists.ts'

const NOTHING_KNOWN = { parts: undefined, tables: undefined }

/** A text with its surcharge, without the prices of `uses`, and its tokens if they were counted. */
interface Document {
  readonly text: string
  readonly surcharge: number
  readonly uses: Uses
  readonly tokens: number | undefined
}

/**
 * The value as `encodeTree` writes it, or with declared shapes if that costs less; `null` for a
 * scalar.
 * @param known of earlier documents with some of the same values, written by the same prices
 */
export function encodeDocument(value: Value, pricer: Pricer, known?: KnownParts): Document | null {
  const { trace } = pricer
  const parts = known ?? new KnownParts()
  const tables = new KnownTables()
  const silent = draftPricer(pricer, { parts, tables }, { trace: undefined, shapes: undefined })
  parts.startDocument()
  const plain = encodeTree(value, silent)
  if (plain === null) return null
  parts.keepDocument(value, plain)
  const { reading } = pricer.style
  const { text, uses = {} } = plain.shown
  const surcharge = plain.shown.surcharge - priceOfUses(uses, reading)
  // The tokens of the parts do not always add up, so the whole is counted, at most once.
  let counted: number | undefined
  const tokens = () => (counted ??= pricer.tokens(text))
  const shapes = usefulShapes(value, { text, tokens }, silent)
  const shaped = shapes === null ? null : withShapes(value, shapes, plain, { tables, silent })
  const price = (uses: Uses, tokens: number) => tokens + readingPrice(reading, uses, tokens)
  const isBetter = shaped !== null && price(shaped.uses, shaped.tokens) < price(uses, tokens())
  if (trace !== undefined) {
    const used = isBetter && shapes !== null ? shapes : undefined
    encodeTree(value, draftPricer(pricer, NOTHING_KNOWN, { trace, shapes: used }))
  }
  return isBetter ? shaped : { text, surcharge, uses, tokens: counted }
}

/** Shapes that may be worth their declarations; `null` if there are none. */
function usefulShapes(value: Value, plain: WrittenText, pricer: Pricer): Shapes | null {
  const { style } = pricer
  const { reading } = style
  if (reading.prices.shape === null) return null
  if (isPriced(reading, 'table') || weighsBrackets(style)) return null
  const lists = writtenLists(collectKeyLists(value), plain, pricer)
  if (lists.length === 0) return null
  const shapes = findShapes(lists, freeNames(value), pricer)
  if (shapes.all.length === 0) return null
  shapes.survey(value)
  return shapes
}

/**
 * Declarations of the shapes that the document uses, and the document.
 * @param plain the document without shapes
 */
function withShapes(
  value: Value,
  shapes: Shapes,
  plain: Forms,
  { tables, silent: pricer }: { readonly tables: KnownTables; readonly silent: Pricer },
): Document & { readonly tokens: number } {
  const shaping = draftPricer(pricer, { parts: undefined, tables }, { trace: undefined, shapes })
  const { text: body, uses } = encodeTree(value, shaping, plain.draft)!.shown
  const used = shapes.all.filter(({ name }) => body.includes(`${name}(`))
  const text = [...used.map(writeDeclaration), body].join('\n')
  const all = { ...addUses(uses, usesOf(used)), shape: used.length }
  return { text, surcharge: 0, uses: all, tokens: pricer.tokens(text) }
}
