import { ObjectValue, type Value } from '../../../json/value.ts'
import { hasBlankBefore, isFlow } from './write-yaml.ts'
import {
  BLANK_DEPTHS,
  BLANK_ITEM,
  COMMENT_KEY,
  NO_BLANK,
  NO_BLANK_ITEM,
  SOURCE_MARK,
  type YamlLayout,
} from './yaml-layout.ts'
import {
  type Entry,
  findEntry,
  findSpacedEntry,
  isItem,
  readLines,
  type YamlLines,
} from './yaml-lines.ts'
import { isFlowScalar, readKey, readScalar } from './yaml-scalars.ts'

/** Deeper blocks are kept as they are. */
const MAX_DEPTH = 48
const ITEM_STEP = 2

/** How often members that are objects or lists had a blank line before them, by depth. */
export interface BlankCounts {
  readonly between: number[]
  readonly notBetween: number[]
  readonly first: number[]
  readonly notFirst: number[]
}

export function countBlanks(): BlankCounts {
  const zeros = () => new Array<number>(BLANK_DEPTHS).fill(0)
  return { between: zeros(), notBetween: zeros(), first: zeros(), notFirst: zeros() }
}

/**
 * The value of a document; `undefined` if its outermost block does not follow the layout. Deeper
 * parts that do not are strings with their source. Every part is looked at once for each level
 * that it is nested in.
 */
export function readYaml(
  source: readonly string[],
  layout: YamlLayout,
  counts: BlankCounts,
): Value | undefined {
  const lines = readLines(source)
  const reader = new Reader(lines, layout, counts)
  const value = reader.block(0, 0)
  return reader.at === source.length ? value : undefined
}

class Reader {
  at = 0
  readonly #lines: YamlLines
  readonly #layout: YamlLayout
  readonly #counts: BlankCounts

  constructor(lines: YamlLines, layout: YamlLayout, counts: BlankCounts) {
    this.#lines = lines
    this.#layout = layout
    this.#counts = counts
  }

  /** The list or object whose lines have this indentation. */
  block(indent: number, depth: number): Value | undefined {
    if (depth > MAX_DEPTH) return undefined
    const { contents, nextContent } = this.#lines
    const first = nextContent[this.at]!
    const isList = this.#layout.colon && first < contents.length && isItem(contents[first]!)
    return isList ? this.#list(indent, depth) : this.#members(indent, depth)
  }

  #members(indent: number, depth: number): ObjectValue | undefined {
    const { indents, contents, nextFilled } = this.#lines
    const { colon, quotes } = this.#layout
    const keys: string[] = []
    const values: Value[] = []
    let above = 0
    let isFirst = true
    while (this.at < contents.length) {
      const filled = nextFilled[this.at]!
      if (filled === contents.length) {
        if (indent > 0) break
      } else if (indents[filled]! !== indent) {
        if (indents[filled]! > indent) return undefined
        break
      }
      const content = contents[this.at]!
      if (content === '' || content.startsWith('#')) {
        // A line of spaces is no blank line.
        if (content === '' && indents[this.at] !== 0) return undefined
        keys.push(COMMENT_KEY)
        values.push(commentText(content))
        this.at++
        continue
      }
      const entry = colon ? findEntry(content) : findSpacedEntry(content)
      if (entry === null) return undefined
      const value = this.#value(entry, indent, depth)
      if (value === undefined) return undefined
      this.#settleBlank(keys, values, above, value, depth, isFirst)
      keys.push(readKey(entry.key, quotes))
      values.push(value)
      above = keys.length
      isFirst = false
    }
    return keys.length === 0 ? undefined : new ObjectValue(keys, values)
  }

  /** Leaves out the blank line that the layout has before a member, or marks that there is none. */
  #settleBlank(
    keys: string[],
    values: Value[],
    above: number,
    value: Value,
    depth: number,
    isFirst: boolean,
  ): void {
    const hasBlank = values.length > above && values[above] === ''
    this.#countBlank(value, depth, isFirst, hasBlank)
    if (!hasBlankBefore(value, this.#layout, depth, isFirst)) return
    if (hasBlank) {
      keys.splice(above, 1)
      values.splice(above, 1)
    } else {
      keys.splice(above, 0, COMMENT_KEY)
      values.splice(above, 0, NO_BLANK)
    }
  }

  #countBlank(value: Value, depth: number, isFirst: boolean, hasBlank: boolean): void {
    if (depth >= BLANK_DEPTHS || !(value instanceof ObjectValue || Array.isArray(value))) return
    const { between, notBetween, first, notFirst } = this.#counts
    const counts = isFirst ? (hasBlank ? first : notFirst) : hasBlank ? between : notBetween
    counts[depth]!++
  }

  /** The value after a key. */
  #value({ rest }: Entry, indent: number, depth: number): Value | undefined {
    const { indents, contents, nextContent } = this.#lines
    const start = this.at
    this.at++
    const next = nextContent[this.at]!
    const isDeeper = next < contents.length && indents[next]! > indent
    const isListBelow =
      next < contents.length && indents[next] === indent && isItem(contents[next]!)
    if (rest === '' && this.#layout.colon && isListBelow && this.#layout.dash === 0) {
      return this.#list(indent, depth + 1) ?? this.#source(start, rest, indent, true)
    }
    if (!isDeeper) return this.#scalar(rest)
    if (rest !== '') return this.#text(rest, start, indent, indent + this.#layout.step)
    const isList = this.#layout.colon && isItem(contents[next]!)
    const deeper = indent + (isList ? this.#layout.dash : this.#layout.step)
    const value = indents[next] === deeper ? this.block(deeper, depth + 1) : undefined
    const isWhole = value !== undefined && this.#isAtEnd(indent)
    return isWhole ? value : this.#source(start, rest, indent, false)
  }

  /** Whether no deeper line follows. */
  #isAtEnd(indent: number): boolean {
    const { indents, nextFilled, contents } = this.#lines
    const next = nextFilled[this.at]!
    return next === contents.length || indents[next]! <= indent
  }

  #scalar(rest: string): Value {
    const { flow, quotes } = this.#layout
    if (rest === '{}') return EMPTY_OBJECT
    if (rest === '[]') return []
    if (flow && rest.startsWith('[') && rest.endsWith(']')) {
      const items = rest
        .slice(1, -1)
        .split(', ')
        .map(item => readScalar(item, quotes))
      // An item in quotes may have a comma.
      if (items.every(item => isFlowScalar(item, quotes) && item !== '')) return items
    }
    return readScalar(rest, quotes)
  }

  /** A text over several lines, if the source is one. */
  #text(rest: string, start: number, indent: number, deeper: number): string {
    const { source, contents, nextFilled } = this.#lines
    if (rest === '|' || rest === '|-') {
      const margin = ' '.repeat(deeper)
      const body: string[] = []
      let at = this.at
      for (; at < source.length; at++) {
        const filled = nextFilled[at]!
        if (contents[at] === '' && source[at] === '') {
          if (filled === source.length || !source[filled]!.startsWith(margin)) break
          body.push('')
        } else if (source[at]!.startsWith(margin)) {
          body.push(source[at]!.slice(deeper))
        } else break
      }
      const text = body.join('\n') + (rest === '|' ? '\n' : '')
      const isPlain = body.length > 0 && !/^[ \n`]/.test(text) && body.at(-1) !== ''
      const before = this.at
      this.at = at
      if (isPlain && text.includes('\n') && this.#isAtEnd(indent)) return text
      this.at = before
    }
    return this.#source(start, rest, indent, false)
  }

  /**
   * What follows a key or a dash as it is in the source, without the indentation of that line.
   * @param withList whether items at this indentation belong to it
   */
  #source(start: number, rest: string, indent: number, withList: boolean): string {
    const { source, indents, contents } = this.#lines
    let end = start + 1
    let last = end
    for (; end < source.length; end++) {
      const content = contents[end]!
      if (content === '') continue
      const isBelow =
        indents[end]! > indent || (withList && indents[end] === indent && isItem(content))
      if (!isBelow) break
      last = end + 1
    }
    this.at = last
    const lines = source.slice(start + 1, last).map(line => line.slice(indent))
    return SOURCE_MARK + [rest, ...lines].join('\n')
  }

  #list(indent: number, depth: number): Value | undefined {
    if (depth > MAX_DEPTH) return undefined
    const { indents, contents, nextFilled, nextContent } = this.#lines
    const items: Value[] = []
    let above = 0
    let isFirst = true
    while (this.at < contents.length) {
      const filled = nextFilled[this.at]!
      const next = nextContent[this.at]!
      const isMine = next < contents.length && indents[next] === indent && isItem(contents[next]!)
      if (filled === contents.length ? indent > 0 : !isMine || indents[filled] !== indent) {
        if (filled < contents.length && indents[filled]! > indent) return undefined
        break
      }
      const content = contents[this.at]!
      if (content === '' || content.startsWith('#')) {
        if (content === '' && indents[this.at] !== 0) return undefined
        items.push(content === '' ? BLANK_ITEM : SOURCE_MARK + content)
        this.at++
        continue
      }
      const item = this.#item(content, indent, depth)
      if (item === undefined) return undefined
      const hasBlank = items.length > above && items[above] === BLANK_ITEM
      this.#countBlank(item, depth, isFirst, hasBlank)
      if (hasBlankBefore(item, this.#layout, depth, isFirst)) {
        if (hasBlank) items.splice(above, 1)
        else items.splice(above, 0, NO_BLANK_ITEM)
      }
      items.push(item)
      above = items.length
      isFirst = false
    }
    // In brackets it would be laid out otherwise.
    return items.length === 0 || isFlow(items, this.#layout) ? undefined : items
  }

  #item(content: string, indent: number, depth: number): Value | undefined {
    const { indents, contents, nextContent } = this.#lines
    const start = this.at
    const rest = content.slice(2)
    if (content === '-') return this.#source(start, '', indent, false)
    if (rest === '') return undefined
    if (isItem(rest) || findEntry(rest) !== null) {
      indents[start] = indent + ITEM_STEP
      contents[start] = rest
      const value = this.block(indent + ITEM_STEP, depth + 1)
      const isWhole = value !== undefined && this.#isAtEnd(indent)
      indents[start] = indent
      contents[start] = content
      return isWhole ? value : this.#source(start, rest, indent, false)
    }
    this.at++
    const next = nextContent[this.at]!
    if (next < contents.length && indents[next]! > indent) {
      return this.#text(rest, start, indent, indent + ITEM_STEP)
    }
    return this.#scalar(rest)
  }
}

const EMPTY_OBJECT = new ObjectValue([], [])

function commentText(content: string): string {
  const text = content.slice(2)
  const isPlain = content.startsWith('# ') && text !== '' && !text.startsWith(SOURCE_MARK)
  return content === '' || isPlain ? text : SOURCE_MARK + content
}
