import { ObjectValue, type Value } from '../../../json/value.ts'
import { decodedTooLong, notDecodable } from '../../not-decodable.ts'
import {
  BLANK_ITEM,
  COMMENT_KEY,
  NO_BLANK,
  NO_BLANK_ITEM,
  SOURCE_MARK,
  type YamlLayout,
} from './yaml-layout.ts'
import { isFlowScalar, spellKey, spellScalar, type YamlScalar } from './yaml-scalars.ts'

/** Values that are nested deeper are no result of reading YAML. */
const MAX_DEPTH = 64
/** Spaces of an item's members below its dash. */
const ITEM_STEP = 2
const DOCUMENT_LINE = '---'

/**
 * The text of documents.
 * @throws AppError `payload_too_large` if it has more than `maxChars`, `not_decodable`
 */
export function writeYaml(value: Value, layout: YamlLayout, maxChars: number): string {
  const out: string[] = []
  let length = layout.end - 1
  const emit = (indent: number, line: string) => {
    length += (line === '' ? 0 : indent + line.length) + 1
    if (length > maxChars) throw decodedTooLong(maxChars)
    out.push(line === '' ? '' : ' '.repeat(indent) + line)
  }
  const documents = layout.many && Array.isArray(value) ? (value as readonly Value[]) : [value]
  for (const [at, document] of documents.entries()) {
    if (at > 0 || layout.head) emit(0, DOCUMENT_LINE)
    writeBlock(document, 0, 0, { layout, emit })
  }
  return out.join('\n') + '\n'.repeat(layout.end)
}

interface Writer {
  readonly layout: YamlLayout
  emit(indent: number, line: string): void
}

function writeBlock(value: Value, indent: number, depth: number, writer: Writer): void {
  if (depth > MAX_DEPTH) throw notDecodable('', 0, `at most ${MAX_DEPTH} levels expected`)
  if (value instanceof ObjectValue) writeMembers(value, indent, depth, writer)
  else if (Array.isArray(value)) writeItems(value, indent, depth, writer)
  else writeScalar('', value as YamlScalar, indent, indent + writer.layout.step, writer)
}

function writeMembers(
  { keys, values }: ObjectValue,
  indent: number,
  depth: number,
  writer: Writer,
): void {
  const { layout, emit } = writer
  const separator = layout.colon ? ': ' : ' '
  let isFirst = true
  for (let at = 0; at < keys.length; at++) {
    const above = at
    at = endOfComments(keys, at)
    const comments = values.slice(above, at)
    const value = values[at]
    if (value !== undefined && hasBlankBefore(value, layout, depth, isFirst)) {
      if (comments[0] === NO_BLANK) comments.shift()
      else emit(0, '')
    }
    for (const text of comments) emit(indent, commentOf(text))
    if (value === undefined) return
    isFirst = false
    const key = spellKey(keys[at]!, layout.quotes)
    if (!isBlock(value, layout)) {
      writeScalar(`${key}${separator}`, value, indent, indent + layout.step, writer)
      continue
    }
    emit(indent, `${key}:`)
    const deeper = value instanceof ObjectValue ? layout.step : layout.dash
    writeBlock(value, indent + deeper, depth + 1, writer)
  }
}

function endOfComments(keys: readonly string[], from: number): number {
  let at = from
  while (at < keys.length && keys[at] === COMMENT_KEY) at++
  return at
}

/** The line of a comment; an empty one is a blank line. */
function commentOf(text: Value | undefined): string {
  const comment = typeof text === 'string' ? text : spellScalar(text as YamlScalar, NO_RULE)
  if (comment === '') return ''
  return comment.startsWith(SOURCE_MARK) ? comment.slice(SOURCE_MARK.length) : `# ${comment}`
}

const NO_RULE = { safe: 'n', unlike: 'd', unsafe: 'd' } as const

function writeItems(items: readonly Value[], indent: number, depth: number, writer: Writer): void {
  const { layout, emit } = writer
  let above: string[] = []
  let isFirst = true
  for (const item of items) {
    if (typeof item === 'string' && isBetweenItems(item)) {
      above.push(item)
      continue
    }
    if (hasBlankBefore(item, layout, depth, isFirst)) {
      if (above[0] === NO_BLANK_ITEM) above.shift()
      else emit(0, '')
    }
    for (const line of above) emit(indent, line === BLANK_ITEM ? '' : line.slice(1))
    above = []
    isFirst = false
    if (!isBlock(item, layout)) {
      writeScalar('- ', item, indent, indent + ITEM_STEP, writer)
      continue
    }
    // The first line of the item follows the dash.
    let dash = '- '
    const inner = (at: number, line: string) => {
      if (dash === '') emit(at, line)
      else emit(indent, dash + ' '.repeat(Math.max(0, at - indent - ITEM_STEP)) + line)
      dash = ''
    }
    writeBlock(item, indent + ITEM_STEP, depth + 1, { layout, emit: inner })
  }
  for (const line of above) emit(indent, line === BLANK_ITEM ? '' : line.slice(1))
}

/** A comment or a blank line. */
function isBetweenItems(item: string): boolean {
  return item.startsWith('`#') || item === BLANK_ITEM || item === NO_BLANK_ITEM
}

/** Whether a value has lines of its own below its key. */
function isBlock(value: Value, layout: YamlLayout): value is ObjectValue | readonly Value[] {
  if (value instanceof ObjectValue) return value.keys.length > 0
  return Array.isArray(value) && value.length > 0 && !isFlow(value, layout)
}

/** Whether a list is written in brackets. */
export function isFlow(value: readonly Value[], { flow, quotes }: YamlLayout): boolean {
  return flow && value.every(item => isFlowScalar(item, quotes))
}

/** Whether the layout has a blank line before this member. */
export function hasBlankBefore(
  value: Value,
  layout: YamlLayout,
  depth: number,
  isFirst: boolean,
): boolean {
  const rule = layout.blanks[depth] ?? 'n'
  if (rule === 'n' || (isFirst && rule === 'b')) return false
  return value instanceof ObjectValue || Array.isArray(value)
}

/** A scalar after `start`, with the lines of a text or of the source below. */
function writeScalar(
  start: string,
  value: Value,
  indent: number,
  deeper: number,
  { layout, emit }: Writer,
): void {
  if (typeof value === 'string' && value.startsWith(SOURCE_MARK)) {
    const [first, ...lines] = value.slice(SOURCE_MARK.length).split('\n')
    emit(indent, first === '' ? withoutSpace(start) : start + first)
    for (const line of lines) emit(indent, line)
  } else if (typeof value === 'string' && value.includes('\n')) {
    const isEnded = value.endsWith('\n')
    emit(indent, `${start}${isEnded ? '|' : '|-'}`)
    for (const line of (isEnded ? value.slice(0, -1) : value).split('\n')) emit(deeper, line)
  } else emit(indent, start + spelled(value, layout))
}

/** A value of one line in the source. */
function spelled(value: Value, { quotes }: YamlLayout): string {
  if (value instanceof ObjectValue) return '{}'
  if (!Array.isArray(value)) return spellScalar(value as YamlScalar, quotes)
  return `[${value.map(item => spellScalar(item as YamlScalar, quotes)).join(', ')}]`
}

/** The start of a line that nothing follows. */
function withoutSpace(start: string): string {
  const bare = start.trimEnd()
  return bare === '-' || bare === '' || bare.endsWith(':') ? bare : `${bare}:`
}
