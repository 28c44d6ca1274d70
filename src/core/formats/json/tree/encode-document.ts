import type { Value } from '../../../json/value.ts'
import { draftPricer, type Forms, KnownParts } from './draft.ts'
import { encodeTree } from './encode-tree.ts'
import { findShapes } from './find-shapes.ts'
import { collectKeyLists } from './key-lists.ts'
import { KnownTables } from './known-tables.ts'
import type { Pricer } from './pricer.ts'
import { type Shapes, writeDeclaration } from './shape.ts'
import { freeNames } from './shape-names.ts'
import type { Piece } from './trace.ts'
import { type WrittenText, writtenLists } from './written-lists.ts'

const NOTHING_KNOWN = { parts: undefined, tables: undefined }

/** A text with its surcharge, and its tokens if they were counted. */
interface Document {
  readonly text: string
  readonly surcharge: number
  readonly tokens: number | undefined
}

/**
 * The value as `encodeTree` writes it, or with declared shapes if that takes fewer tokens; `null`
 * for a scalar.
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
  const { text, surcharge } = plain.shown
  // The tokens of the parts do not always add up, so the whole is counted, at most once.
  let counted: number | undefined
  const tokens = () => (counted ??= pricer.tokens(text))
  const shapes = usefulShapes(value, { text, tokens }, silent)
  const shaped = shapes === null ? null : withShapes(value, shapes, plain, { tables, silent })
  const isShorter = shaped !== null && shaped.tokens * pricer.style.shapeCost < tokens()
  if (trace !== undefined) {
    const used = isShorter && shapes !== null ? shapes : undefined
    encodeTree(value, draftPricer(pricer, NOTHING_KNOWN, { trace, shapes: used }))
  }
  return isShorter ? shaped : { text, surcharge, tokens: counted }
}

/** Shapes that may be worth their declarations; `null` if there are none. */
function usefulShapes(value: Value, plain: WrittenText, pricer: Pricer): Shapes | null {
  const { tableCost, bracketCost, maxBracketChars } = pricer.style
  if (tableCost !== 1 || bracketCost !== 1 || maxBracketChars !== Number.POSITIVE_INFINITY) {
    return null
  }
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
): Piece {
  const shaping = draftPricer(pricer, { parts: undefined, tables }, { trace: undefined, shapes })
  const { text } = encodeTree(value, shaping, plain.draft)!.shown
  const used = shapes.all.filter(({ name }) => text.includes(`${name}(`))
  return pricer.piece([...used.map(writeDeclaration), text].join('\n'))
}
