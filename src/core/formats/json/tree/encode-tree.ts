import { OPEN_BRACE, OPEN_BRACKET } from '../../../json/char-codes.ts'
import { parseJson } from '../../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { jsonLength } from '../../../json/write-json.ts'
import { isPriced } from '../../../reading/price.ts'
import { escapeText } from '../../bare-text.ts'
import { findSpacing } from '../../text/json-spacing.ts'
import type { CellPosition, Draft, Forms } from './draft.ts'
import { encodeKeyedTable, encodeTable, type Table, tablePiece } from './encode-table.ts'
import { bracketPiece, cheapest, PrefixedPiece, type Pricer } from './pricer.ts'
import { type CountedText, type ScalarText, scalarText } from './scalar-text.ts'
import { JSON_MARK } from './syntax.ts'
import { type Piece, priceOf, type Role } from './trace.ts'
import { priceOfUses } from './uses.ts'
import {
  type Bracketed,
  type BracketTexts,
  bracketTexts,
  inlinePiece,
  writeInline,
} from './write-inline.ts'
import {
  fillFrame,
  frameOfItems,
  frameOfMembers,
  itemText,
  memberText,
  type UncountedFrame,
} from './write-lines.ts'
import { isScalar, type Scalar } from './write-text.ts'

/** A table this much shorter than JSON is used without pricing other ways. */
const CLEARLY_SHORTER = 0.7

/** Tables of fewer rows are compared with shapes, if there are some: their headers may repeat. */
const FEW_ROWS = 8

/** Least length of a string that may be written as the value whose JSON it is. */
const SHORTEST_JSON = 16
const MAX_JSON_DEPTH = 64

/** Characters per token, for estimates that only decide which price is smaller. */
const CHARS_PER_TOKEN = 3

/**
 * The value as lines and tables, `null` for a scalar. Recursion is as deep as the value.
 * @param plain the same without shapes, if it is written again with some
 */
export function encodeTree(value: Value, pricer: Pricer, plain?: Draft): Forms | null {
  if (isScalar(value)) return null
  return value instanceof ObjectValue
    ? formsOfObject(value, { level: -1, role: 'document' }, pricer, plain)
    : formsOfArray(value, { level: 0, role: 'document' }, pricer, plain)
}

function formsOfObject(
  value: ObjectValue,
  place: CellPosition,
  pricer: Pricer,
  plain: Draft | undefined,
): Forms {
  const { keys, values } = value
  const { level, role } = place
  if (keys.length === 0 || level >= pricer.style.lineDepth) return onlyInline(value, role, pricer)
  if (keys.length < pricer.style.minLineMembers && values.every(isScalar)) {
    return onlyInline(value, role, pricer)
  }
  const table = encodeKeyedTable(value, pricer)
  const clear = clearlyShorter(table, 'keyed table', value, role, pricer)
  if (clear !== null) return clear
  const draft = draftOf(value, place, pricer, plain)
  const { inner, scalars, lines } = draft
  const inline = inlinePiece(value, draft, inner, pricer)
  const body = fillFrame(lines!, inner)
  const rows = table === null ? null : tablePiece(table, pricer)
  const shape = pricer.shapes?.piece(value, inner.map(inlineOf), pricer) ?? null
  const short = shape !== null && priceOf(shape) < priceOf(inline) ? shape : inline
  if (role === 'document') {
    const shown = cheapest(body, inline, rows)
    pricer.trace?.decide(role, { lines: body, brackets: inline, 'keyed table': rows }, shown)
    return { inline: short, shown, draft }
  }
  if (role === 'item') {
    const shown = cheapest(shape ?? inline, inline, body, rows)
    pricer.trace?.decide(role, { shape, brackets: inline, lines: body, 'keyed table': rows }, shown)
    return { inline: short, shown, draft }
  }
  const shaped = shape === null ? null : new PrefixedPiece(':', shape, 1)
  const brackets = new PrefixedPiece(':', inline, 1)
  const path = keys.length === 1 ? pathTo(value, inner[0]!, scalars[0]!, pricer) : null
  const below = new PrefixedPiece(`:\n${' '.repeat(level + 1)}`, body, 1)
  const shown = cheapest(shaped ?? brackets, brackets, rows, path, below)
  pricer.trace?.decide(
    role,
    { shape: shaped, brackets, 'keyed table': rows, path, lines: below },
    shown,
  )
  return { inline: short, shown, draft }
}

/**
 * The container with the forms of its members.
 * @param plain the same without shapes; absent if it was not written, or not like this
 */
function draftOf(
  value: ObjectValue | readonly Value[],
  { level, role }: CellPosition,
  pricer: Pricer,
  plain: Draft | undefined,
): Draft {
  const keys = value instanceof ObjectValue ? value.keys : null
  const members: readonly Value[] = value instanceof ObjectValue ? value.values : value
  const place: CellPosition =
    keys === null ? { level, role: 'item' } : { level: level + 1, role: 'member' }
  const inner: (Forms | null)[] = []
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!
    const known = plain?.inner[i]
    // A scalar without forms reaches no shape.
    const isKnown =
      known === null || (known !== undefined && pricer.shapes?.reaches(member) !== true)
    inner.push(isKnown ? known : formsAt(keys?.[i] ?? i, member, place, pricer, known?.draft))
  }
  if (plain !== undefined) {
    const { scalars, keys, brackets, lines } = plain
    return { inner, scalars, keys, brackets, lines }
  }
  const own = {
    keys: keys === null ? null : pricer.keyTexts(keys),
    scalars: scalarsAmong(members, inner, pricer),
  }
  const texts = linesOf(value, own, { level, role }, pricer)
  const { brackets, lines } = countFrames(bracketTexts(own), texts, pricer)
  return { inner, scalars: own.scalars, keys: own.keys, brackets, lines }
}

/** The frames of a container with their tokens, of which the cheaper brackets are taken. */
function countFrames(
  { bare, json, middles }: BracketTexts,
  lines: UncountedFrame | null,
  pricer: Pricer,
): Pick<Draft, 'brackets' | 'lines'> {
  const [bareTokens, jsonTokens] = [pricer.tokens(bare), pricer.tokens(json)]
  const asJson = jsonTokens <= bareTokens
  return {
    brackets: { asJson, tokens: Math.min(jsonTokens, bareTokens) + middles },
    lines:
      lines === null
        ? null
        : {
            texts: lines.texts,
            slots: lines.slots,
            tokens: pricer.tokens(lines.own) + lines.middles,
          },
  }
}

/** @param level spaces in front of the line that the value follows */
function linesOf(
  value: ObjectValue | readonly Value[],
  { keys, scalars }: Bracketed,
  { level, role }: CellPosition,
  pricer: Pricer,
): UncountedFrame | null {
  if (value instanceof ObjectValue) {
    return frameOfMembers(value.values, keys!, scalars, level + 1, pricer)
  }
  return role === 'item' ? null : frameOfItems(value, scalars, level, pricer)
}

/** The members that have no forms of their own. */
function scalarsAmong(
  values: readonly Value[],
  inner: readonly (Forms | null)[],
  pricer: Pricer,
): readonly (ScalarText | null)[] {
  return values.map((value, i) => (inner[i] === null ? scalarText(value as Scalar, pricer) : null))
}

/**
 * The forms of a member or item, `null` if it has none. A trace learns its place.
 * @param plain the same without shapes, if it is known
 */
function formsAt(
  step: string | number | null,
  value: Value,
  place: CellPosition,
  pricer: Pricer,
  plain?: Draft,
): Forms | null {
  if (!mayHaveForms(value)) return null
  const { trace } = pricer
  trace?.enter(step)
  const forms =
    typeof value === 'string'
      ? formsOfJsonText(value, place, pricer)
      : value instanceof ObjectValue
        ? formsOfObject(value, place, pricer, plain)
        : formsOfArray(value, place, pricer, plain)
  trace?.leave()
  return forms
}

/** Whether a value is a container, or a string that begins like the JSON of one. */
function mayHaveForms(value: Value): value is string | ObjectValue | readonly Value[] {
  if (typeof value !== 'string') return !isScalar(value)
  const first = value.charCodeAt(0)
  return value.length >= SHORTEST_JSON && (first === OPEN_BRACKET || first === OPEN_BRACE)
}

/**
 * A string that is the JSON text of an object or array, which may be written as that; `null` for
 * any other.
 */
function formsOfJsonText(
  text: string,
  { level, role }: CellPosition,
  pricer: Pricer,
): Forms | null {
  if (level >= pricer.style.lineDepth) return null
  const parsed = parseJson(text, { maxDepth: MAX_JSON_DEPTH })
  if (!parsed.ok) return null
  const spacing = findSpacing(text, parsed.value)
  const inside: CellPosition = { level, role: 'member' }
  const forms = spacing === undefined ? null : formsAt(null, parsed.value, inside, pricer)
  if (forms === null) return null
  const mark = `(${spacing}${JSON_MARK}`
  const scalar = scalarText(text, pricer)
  const inline = countedPiece(
    { text: escapeText(text), counted: scalar.quoted, middle: scalar.middle },
    pricer,
  )
  if (role === 'item') {
    const string = countedPiece(itemText(text, scalar, pricer), pricer)
    pricer.trace?.decide(role, { string }, string)
    return { inline, shown: string }
  }
  const string = countedPiece(memberText(text, scalar, pricer), pricer)
  const asValue = new PrefixedPiece(mark, forms.shown, pricer.tokens(mark))
  const shown = cheapest(string, asValue)
  pricer.trace?.decide(role, { string, value: asValue }, shown)
  return { inline, shown }
}

/** The text after the key of an object with one member: a dot, that member's key, and its value. */
function pathTo(
  { keys, values }: ObjectValue,
  forms: Forms | null,
  scalar: ScalarText | null,
  pricer: Pricer,
): Piece {
  const step = `.${pricer.keyTexts(keys)[0]!.line}`
  if (forms !== null) return new PrefixedPiece(step, forms.shown, pricer.tokens(step))
  const { text, counted, middle } = memberText(values[0] as Scalar, scalar!, pricer)
  return { text: step + text, tokens: pricer.tokens(step + counted) + middle, surcharge: 0 }
}

function countedPiece({ text, counted, middle }: CountedText, pricer: Pricer): Piece {
  return { text, tokens: pricer.tokens(counted) + middle, surcharge: 0 }
}

function formsOfArray(
  value: readonly Value[],
  place: CellPosition,
  pricer: Pricer,
  plain: Draft | undefined,
): Forms {
  const { level, role } = place
  if (value.length === 0 || level > pricer.style.lineDepth) return onlyInline(value, role, pricer)
  const table = encodeTable(value, pricer)
  const clear = clearlyShorter(table, 'table', value, role, pricer)
  if (clear !== null) return clear
  const draft = draftOf(value, place, pricer, plain)
  const { inner, lines } = draft
  const inline = inlinePiece(value, draft, inner, pricer)
  const rows = table === null ? null : tablePiece(table, pricer)
  if (lines === null) {
    const shown = cheapest(inline, rows)
    pricer.trace?.decide(role, { brackets: inline, table: rows }, shown)
    return { inline, shown, draft }
  }
  const isMember = role === 'member'
  const body = fillFrame(lines, inner)
  const brackets = isMember ? new PrefixedPiece(':', inline, 1) : inline
  const list = isMember ? new PrefixedPiece(':\n', body, 1) : body
  const shown = cheapest(brackets, rows, list)
  pricer.trace?.decide(role, { brackets, table: rows, list }, shown)
  return { inline, shown, draft }
}

function onlyInline(value: Value, role: Role, pricer: Pricer): Forms {
  const text = writeInline(value, pricer.shapes)
  const inline = bracketPiece(pricer.tokens(text), () => text, pricer.style)
  const brackets = role === 'member' ? new PrefixedPiece(':', inline, 1) : inline
  pricer.trace?.decide(role, { brackets }, brackets)
  return { inline, shown: brackets }
}

/**
 * The forms of a value whose table needs no comparison, because the inline form would be far
 * longer.
 */
function clearlyShorter(
  table: Table | null,
  way: 'table' | 'keyed table',
  value: Value,
  role: Role,
  pricer: Pricer,
): Forms | null {
  const { style, trace } = pricer
  if (table === null || table.brackets.length > 0 || isPriced(style.reading, 'table')) return null
  const rows = value instanceof ObjectValue ? value.values : (value as readonly Value[])
  if (pricer.shapes !== undefined && rows.length < FEW_ROWS) return null
  const { text, uses } = table
  const limit = Math.ceil(text.length / CLEARLY_SHORTER)
  if (jsonLength(value, limit) <= limit) return null
  const surcharge = priceOfUses(uses, style.reading)
  const piece = { text, tokens: text.length / CHARS_PER_TOKEN, surcharge, uses }
  if (trace !== undefined) {
    const counted = { ...pricer.piece(text), surcharge, uses }
    trace.decide(role, { [way]: counted }, counted)
  }
  return {
    // A document that is one table has no use for it.
    get inline() {
      return bracketPiece(limit / CHARS_PER_TOKEN, () => writeInline(value), style)
    },
    shown: piece,
  }
}

function inlineOf(forms: Forms | null): Piece | null {
  return forms === null ? null : forms.inline
}
