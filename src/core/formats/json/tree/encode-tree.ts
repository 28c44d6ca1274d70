import { parseJson } from '../../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { jsonLength } from '../../../json/write-json.ts'
import { escapeText } from '../../bare-text.ts'
import { findSpacing } from '../../text/json-spacing.ts'
import { encodeKeyedTable, encodeTable, type Table, tablePiece } from './encode-table.ts'
import { findPatternRuns, type PatternRun } from './pattern-runs.ts'
import { bracketSurcharge, cheapest, type Pricer } from './pricer.ts'
import {
  ITEM_MARK,
  JSON_MARK,
  NOT_IN_ITEM,
  NOT_IN_KEY,
  NOT_IN_LINE,
  PATTERN_MARK,
} from './syntax.ts'
import { type Piece, ROLES } from './trace.ts'
import { afterSign, inlinePiece, writeInline, writeStringLines } from './write-inline.ts'
import { isScalar, type Scalar, writeAffix, writeScalar, writeText } from './write-text.ts'

/** A table this much shorter than JSON is used without pricing other ways. */
const CLEARLY_SHORTER = 0.7

/** Least length of a string that may be written as the value whose JSON it is. */
const SHORTEST_JSON = 16
const MAX_JSON_DEPTH = 64

/** Characters per token, for estimates that only decide which price is smaller. */
const CHARS_PER_TOKEN = 3

/** The cheapest ways to write a container, by its role. */
interface Forms {
  /** In brackets, on one line. */
  readonly inline: Piece
  /** After a key, its colon included. */
  readonly member: Piece
  /** As an item of a list; the first line without its spaces. */
  readonly item: Piece
  /** As the whole document. */
  readonly document: Piece
}

/** The value as lines and tables, `null` for a scalar. Recursion is as deep as the value. */
export function encodeTree(value: Value, pricer: Pricer): Piece | null {
  if (isScalar(value)) return null
  const forms =
    value instanceof ObjectValue ? formsOfObject(value, -1, pricer) : formsOfArray(value, 0, pricer)
  return forms.document
}

/** @param level spaces in front of the line that the value follows */
function formsOf(value: Value, level: number, pricer: Pricer): Forms | null {
  if (typeof value === 'string') return formsOfJsonText(value, level, pricer)
  if (isScalar(value)) return null
  return value instanceof ObjectValue
    ? formsOfObject(value, level, pricer)
    : formsOfArray(value, level, pricer)
}

function formsOfObject(value: ObjectValue, level: number, pricer: Pricer): Forms {
  const { keys, values } = value
  if (keys.length === 0 || level >= pricer.style.lineDepth) return onlyInline(value, pricer)
  if (keys.length < pricer.style.minLineMembers && values.every(isScalar)) {
    return onlyInline(value, pricer)
  }
  const table = encodeKeyedTable(value, pricer)
  const clear = clearlyShorter(table, 'keyed table', value, pricer)
  if (clear !== null) return clear
  const inner = values.map((member, i) => formsAt(keys[i]!, member, level + 1, pricer))
  const inline = inlinePiece(value, inner.map(inlineOf), pricer)
  const body = linesOfMembers(value, inner, level + 1, pricer)
  const rows = table === null ? null : tablePiece(table, pricer)
  const path = keys.length === 1 ? pathTo(keys[0]!, values[0]!, inner[0]!, pricer) : null
  return {
    inline,
    member: cheapest(
      'member',
      {
        brackets: plus(':', inline, 1),
        'keyed table': rows,
        path,
        lines: plus(`:\n${' '.repeat(level + 1)}`, body, 1),
      },
      pricer,
    ),
    item: cheapest('item', { brackets: inline, lines: body, 'keyed table': rows }, pricer),
    document: cheapest('document', { lines: body, brackets: inline, 'keyed table': rows }, pricer),
  }
}

/** The forms of a member or item. A trace learns its place. */
function formsAt(
  step: string | number | null,
  value: Value,
  level: number,
  pricer: Pricer,
): Forms | null {
  pricer.trace?.enter(step)
  const forms = formsOf(value, level, pricer)
  pricer.trace?.leave()
  return forms
}

/**
 * A string that is the JSON text of an object or array, which may be written as that; `null` for
 * any other.
 */
function formsOfJsonText(text: string, level: number, pricer: Pricer): Forms | null {
  if (level >= pricer.style.lineDepth || text.length < SHORTEST_JSON) return null
  if (!/^[[{]/.test(text)) return null
  const parsed = parseJson(text, { maxDepth: MAX_JSON_DEPTH })
  if (!parsed.ok) return null
  const spacing = findSpacing(text, parsed.value)
  const forms = spacing === undefined ? null : formsAt(null, parsed.value, level, pricer)
  if (forms === null) return null
  const mark = `(${spacing}${JSON_MARK}`
  const inline = pricer.piece(escapeText(text))
  const asString = pricer.piece(scalarMember(text, pricer))
  const asValue = plus(mark, forms.member, pricer.tokens(mark))
  return {
    inline,
    member: cheapest('member', { string: asString, value: asValue }, pricer),
    item: cheapest('item', { string: pricer.piece(scalarItem(text, pricer)) }, pricer),
    document: inline,
  }
}

/** The text after the key of an object with one member: a dot, that member's key, and its value. */
function pathTo(key: string, value: Value, forms: Forms | null, pricer: Pricer): Piece {
  const step = `.${writeText(key, NOT_IN_KEY)}`
  if (forms !== null) return plus(step, forms.member, pricer.tokens(step))
  return pricer.piece(step + scalarMember(value as Scalar, pricer))
}

function formsOfArray(value: readonly Value[], level: number, pricer: Pricer): Forms {
  if (value.length === 0 || level > pricer.style.lineDepth) return onlyInline(value, pricer)
  const table = encodeTable(value, pricer)
  const clear = clearlyShorter(table, 'table', value, pricer)
  if (clear !== null) return clear
  const inner = value.map((item, i) => formsAt(i, item, level, pricer))
  const inline = inlinePiece(value, inner.map(inlineOf), pricer)
  const list = linesOfItems(value, inner, level, pricer)
  const rows = table === null ? null : tablePiece(table, pricer)
  return {
    inline,
    member: cheapest(
      'member',
      { brackets: plus(':', inline, 1), table: rows, list: plus(':\n', list, 1) },
      pricer,
    ),
    item: cheapest('item', { brackets: inline, table: rows }, pricer),
    document: cheapest('document', { brackets: inline, table: rows, list }, pricer),
  }
}

function onlyInline(value: Value, pricer: Pricer): Forms {
  const piece = pricer.piece(writeInline(value))
  const inline = { ...piece, surcharge: bracketSurcharge(piece.text, piece.tokens, pricer.style) }
  const member = plus(':', inline, 1)
  return {
    inline,
    member: cheapest('member', { brackets: member }, pricer),
    item: cheapest('item', { brackets: inline }, pricer),
    document: cheapest('document', { brackets: inline }, pricer),
  }
}

/**
 * The forms of a value whose table needs no comparison, because the inline form would be far
 * longer.
 */
function clearlyShorter(
  table: Table | null,
  way: 'table' | 'keyed table',
  value: Value,
  pricer: Pricer,
): Forms | null {
  const { style, trace } = pricer
  if (table === null || table.brackets.length > 0 || style.tableCost !== 1) return null
  const { text } = table
  const limit = Math.ceil(text.length / CLEARLY_SHORTER)
  if (jsonLength(value, limit) <= limit) return null
  const piece = { text, tokens: text.length / CHARS_PER_TOKEN, surcharge: 0 }
  if (trace !== undefined) {
    const counted = pricer.piece(text)
    for (const role of ROLES) trace.decide(role, { [way]: counted }, counted)
  }
  return {
    // A document that is one table has no use for it.
    get inline() {
      const bracketed = writeInline(value)
      const tokens = limit / CHARS_PER_TOKEN
      return { text: bracketed, tokens, surcharge: bracketSurcharge(bracketed, tokens, style) }
    },
    member: piece,
    item: piece,
    document: piece,
  }
}

function inlineOf(forms: Forms | null): Piece | null {
  return forms === null ? null : forms.inline
}

function plus(before: string, piece: Piece, tokens: number): Piece {
  return { ...piece, text: before + piece.text, tokens: piece.tokens + tokens }
}

/** A line for each member; the first without its spaces. */
function linesOfMembers(
  value: ObjectValue,
  inner: readonly (Forms | null)[],
  level: number,
  pricer: Pricer,
): Piece {
  const { keys, values } = value
  const indent = `\n${' '.repeat(level)}`
  const runs = findPatternRuns(values)
  let nextRun = 0
  let text = ''
  let own = ''
  let [tokens, surcharge] = [0, 0]
  for (let i = 0; i < keys.length; i++) {
    const run = runs[nextRun]
    if (run?.start === i) {
      nextRun++
      const lines = linesOfRun(value, run, level, pricer)
      if (lines !== null) {
        text += lines
        own += lines
        i = run.end - 1
        continue
      }
    }
    const forms = inner[i]!
    const start = (i === 0 ? '' : indent) + writeText(keys[i]!, NOT_IN_KEY)
    if (forms === null) {
      const line = start + scalarMember(values[i] as Scalar, pricer)
      text += line
      own += line
    } else {
      text += start + forms.member.text
      own += start
      tokens += forms.member.tokens
      surcharge += forms.member.surcharge
    }
  }
  return { text, tokens: tokens + pricer.tokens(own), surcharge }
}

/** The members below their common prefix, or `null` if that saves nothing. */
function linesOfRun(
  { keys, values }: ObjectValue,
  { start, end, prefix }: PatternRun,
  level: number,
  pricer: Pricer,
): string | null {
  const indent = `\n${' '.repeat(level)}`
  let plain = ''
  let short = `${indent}=${writeAffix(prefix, NOT_IN_LINE, 0)}${PATTERN_MARK}`
  for (let i = start; i < end; i++) {
    const text = values[i] as string
    const key = writeText(keys[i]!, NOT_IN_KEY)
    plain += `${indent}${key}${scalarMember(text, pricer)}`
    short += `${indent} ${key}:${afterSign(text, writeText(text.slice(prefix.length), NOT_IN_LINE))}`
  }
  return pricer.tokens(short) < pricer.tokens(plain) ? short : null
}

function scalarMember(value: Scalar, pricer: Pricer): string {
  const lines = typeof value === 'string' ? writeStringLines(value, pricer) : null
  return `:${lines ?? afterSign(value, writeScalar(value, NOT_IN_LINE))}`
}

/** A line with a dash for each item. */
function linesOfItems(
  values: readonly Value[],
  inner: readonly (Forms | null)[],
  level: number,
  pricer: Pricer,
): Piece {
  const indent = ' '.repeat(level)
  let text = ''
  let own = ''
  let [tokens, surcharge] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    const forms = inner[i]!
    const start = `${i === 0 ? '' : '\n'}${indent}${ITEM_MARK}`
    if (forms === null) {
      const line = start + scalarItem(values[i] as Scalar, pricer)
      text += line
      own += line
    } else {
      text += start + forms.item.text
      own += start
      tokens += forms.item.tokens
      surcharge += forms.item.surcharge
    }
  }
  return { text, tokens: tokens + pricer.tokens(own), surcharge }
}

function scalarItem(value: Scalar, pricer: Pricer): string {
  const lines = typeof value === 'string' ? writeStringLines(value, pricer) : null
  return lines ?? writeScalar(value, NOT_IN_ITEM)
}
