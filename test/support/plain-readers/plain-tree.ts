import type { Json } from './json.ts'
import { type Place, quoted, quotedAt, readValue, scalar, skip, until } from './plain-inline.ts'
import { type PlainColumn, readColumns, readKeyedRow, readRow, readShaped } from './plain-table.ts'

/**
 * Reads `tree@2` line by line, as somebody would who knows `docs/reference/formats.md`, and nothing
 * of our decoder. For well-formed texts: it does not say what is wrong with others.
 */
export function readTree(text: string): Json {
  const all = text.split('\n')
  const end = all.findIndex(line => !DECLARATION.test(line))
  const lines = new Lines(all.slice(end), all.slice(0, end))
  const first = lines.peek()
  if (first.startsWith('- ')) return lines.list(0)
  if (TABLE_HEAD.test(first)) return lines.table(lines.take())
  return /^[[{]/.test(first) ? readValue(lines.place(lines.take())) : lines.block(0)
}

/** `[3]:` and `{3}:`. */
const TABLE_HEAD = /^(\[|\{)(\d+)[\]}]:$/
/** A shape: its name, and its columns in braces. */
const DECLARATION = /^[A-Za-z]{1,3}\{(?!\d+\}:)/
const SHAPED = /^[A-Za-z]{1,3}(?=\()/
const KEY = /^(?:"(?:[^"\\]|\\.)*"|[^:."[\]{}(]+)/
/** Behind a key: its value is the text of the JSON that follows. */
const MARK = /^\([a-z0-9-]+ json\)/

class Lines {
  readonly #lines: readonly string[]
  readonly #shapes: ReadonlyMap<string, readonly PlainColumn[]>
  #next = 0

  constructor(lines: readonly string[], declarations: readonly string[]) {
    this.#lines = lines
    const shapes = declarations.flatMap(line => readColumns(line))
    this.#shapes = new Map(shapes.map(({ name, group }) => [name, group ?? []]))
  }

  place(text: string): Place {
    return { text, at: 0, shaped: place => this.#shaped(place) }
  }

  /** The object at the place, if it is written in a declared shape. */
  #shaped(place: Place): Json | undefined {
    const [name = ''] = SHAPED.exec(place.text.slice(place.at, place.at + 4)) ?? []
    const columns = this.#shapes.get(name)
    if (columns === undefined) return undefined
    place.at += name.length
    return readShaped(place, columns)
  }

  peek(): string {
    return this.#lines[this.#next] ?? ''
  }

  /** @throws {Error} if the text is over, and so is none of the grammar */
  take(): string {
    const line = this.#lines[this.#next++]
    if (line === undefined) throw new Error('the text ends too early')
    return line
  }

  #more(): boolean {
    return this.#next < this.#lines.length
  }

  #indent(): number {
    return this.peek().search(/[^ ]|$/)
  }

  /** `key: value` lines with the same indentation; dots in a key are objects in objects. */
  block(indent: number): Json {
    const members: [string, Json][] = []
    while (this.#more() && this.#indent() === indent && !this.peek().startsWith('- ', indent)) {
      const line = this.take().slice(indent)
      if (line.startsWith('=')) members.push(...this.#run({ text: line, at: 1 }))
      else members.push(this.#member(line, indent))
    }
    return Object.fromEntries(members) as Json
  }

  /** The deeper lines below `=prefix*`: each value begins with the prefix. */
  #run(place: Place): [string, Json][] {
    const prefix = place.text[place.at] === '"' ? quoted(place) : until(place, '*')
    const members: [string, Json][] = []
    for (const inner = this.#indent(); this.#more() && this.#indent() === inner; ) {
      const line: Place = { text: this.take(), at: inner }
      const key = line.text[inner] === '"' ? quoted(line) : until(line, ':')
      skip(line, ':')
      members.push([key, prefix + (line.text[line.at] === '"' ? quoted(line) : until(line, ''))])
    }
    return members
  }

  /**
   * A key, its mark and what follows. How the text of a mark is spaced is nothing that a reader
   * asks for.
   */
  #member(line: string, indent: number): [string, Json] {
    const [key = ''] = KEY.exec(line) ?? []
    const [mark = ''] = MARK.exec(line.slice(key.length)) ?? []
    const value = this.#afterKey(line.slice(key.length + mark.length), indent)
    const name = key.startsWith('"') ? (JSON.parse(key) as string) : key
    return [name, mark === '' ? value : JSON.stringify(value)]
  }

  #afterKey(rest: string, indent: number): Json {
    if (rest.startsWith('.')) return Object.fromEntries([this.#member(rest.slice(1), indent)])
    if (rest.startsWith(':')) return this.#afterColon(rest.slice(1).replace(/^ /, ''), indent)
    return this.table(rest)
  }

  #afterColon(text: string, indent: number): Json {
    if (text !== '') return this.#value(text)
    const inner = this.#indent()
    return this.peek().startsWith('- ', inner) && inner >= indent
      ? this.list(inner)
      : this.block(inner)
  }

  #value(text: string): Json {
    const [fence] = /^`{3,}$/.exec(text) ?? []
    if (fence !== undefined) return this.#fenced(fence)
    const place = this.place(text)
    return /^["[{]/.test(text) ? readValue(place) : (this.#shaped(place) ?? scalar(text))
  }

  #fenced(fence: string): string {
    const inside: string[] = []
    for (let line = this.take(); line !== fence; line = this.take()) inside.push(line)
    return inside.join('\n')
  }

  list(indent: number): Json {
    const items: Json[] = []
    while (this.#more() && this.#indent() === indent && this.peek().startsWith('- ', indent)) {
      const item = this.take().slice(indent + 2)
      if (TABLE_HEAD.test(item)) items.push(this.table(item))
      else if (isMember(item) && !this.#isShaped(item)) {
        // An object, whose first member stands behind the dash.
        const first = this.#member(item, indent + 1)
        const others = this.#indent() === indent + 1 ? this.block(indent + 1) : {}
        items.push({ [first[0]]: first[1], ...(others as object) })
      } else items.push(this.#value(item))
    }
    return items
  }

  #isShaped(item: string): boolean {
    return this.#shapes.has(SHAPED.exec(item)?.[0] ?? '')
  }

  table(head: string): Json {
    const [, opener, count = '0'] = TABLE_HEAD.exec(head) ?? []
    const columns = readColumns(this.take())
    const rows = Array.from({ length: Number(count) }, () => this.take())
    if (opener === '[') {
      return rows.map(row => loneObject(this.place(row)) ?? readRow(this.place(row), columns))
    }
    return Object.fromEntries(rows.map(row => readKeyedRow(this.place(row), columns))) as Json
  }
}

/** Whether an item of a list begins with a key, and so is an object. */
function isMember(item: string): boolean {
  if (item.startsWith('"')) return quotedAt(item) < item.length
  return !/^(?:[[{]|```)/.test(item) && item.includes(':')
}

/** A row that is an object in braces and nothing else. */
function loneObject(place: Place): Json | undefined {
  if (!place.text.startsWith('{')) return undefined
  const object = readValue(place)
  return place.at === place.text.length ? object : undefined
}
