import type { Json } from './data-sets.ts'
import { type Place, quotedAt, readValue, scalar } from './plain-inline.ts'
import { readColumns, readKeyedRow, readRow } from './plain-table.ts'

/**
 * Reads `tree@1` line by line, as somebody would who knows `docs/formats.md`, and nothing of our decoder.
 * For well-formed texts: it does not say what is wrong with others.
 */
export function readTree(text: string): Json {
  const lines = new Lines(text.split('\n'))
  const first = lines.peek()
  if (first.startsWith('- ')) return lines.list(0)
  if (TABLE_HEAD.test(first)) return lines.table(lines.take())
  return /^[[{]/.test(first) ? readValue({ text: lines.take(), at: 0 }) : lines.block(0)
}

/** `[3]:` and `{3}:`, with the separator of the cells where it is no comma. */
const TABLE_HEAD = /^(\[|\{)(\d+)([\t| ]?)[\]}]:$/
const KEY = /^(?:"(?:[^"\\]|\\.)*"|[^:."[\]{}]+)/

class Lines {
  readonly #lines: readonly string[]
  #next = 0

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  peek(): string {
    return this.#lines[this.#next] ?? ''
  }

  take(): string {
    return this.#lines[this.#next++] ?? ''
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
      members.push(this.#member(this.take().slice(indent), indent))
    }
    return Object.fromEntries(members) as Json
  }

  #member(line: string, indent: number): [string, Json] {
    const path: string[] = []
    let rest = `.${line}`
    while (rest.startsWith('.')) {
      const [key = ''] = KEY.exec(rest.slice(1)) ?? []
      path.push(key.startsWith('"') ? (JSON.parse(key) as string) : key)
      rest = rest.slice(1 + key.length)
    }
    const value = rest.startsWith(':')
      ? this.#afterColon(rest.slice(1).replace(/^ /, ''), indent)
      : this.table(rest)
    const [name = '', ...inner] = path
    return [name, inner.reduceRight<Json>((nested, key) => ({ [key]: nested }), value)]
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
    const place: Place = { text, at: 0 }
    return /^["[{]/.test(text) ? readValue(place) : scalar(text)
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
      else if (/^[^"[{]*:/.test(item) || (item.startsWith('"') && quotedAt(item) < item.length)) {
        // An object, whose first member stands behind the dash.
        const first = this.#member(item, indent + 1)
        const others = this.#indent() === indent + 1 ? this.block(indent + 1) : {}
        items.push({ [first[0]]: first[1], ...(others as object) })
      } else items.push(this.#value(item))
    }
    return items
  }

  table(head: string): Json {
    const [, opener, count = '0', sign = ''] = TABLE_HEAD.exec(head) ?? []
    const separator = sign === '' ? ',' : sign
    const columns = readColumns(this.take(), separator)
    const rows = Array.from({ length: Number(count) }, () => this.take())
    if (opener === '[') return rows.map(row => readRow(row, columns, separator))
    return Object.fromEntries(rows.map(row => readKeyedRow(row, columns, separator))) as Json
  }
}
