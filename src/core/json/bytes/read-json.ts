import { isUtf8 } from 'node:buffer'
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../char-codes.ts'
import { type CheckedJson, checkedJson } from './checked-json.ts'
import {
  type JsonBytes,
  type JsonNode,
  parseAt,
  RANGE,
  type SelectedKey,
  type Selection,
  textOf,
} from './json-node.ts'
import { byteAt, endOfScalar, endOfString, NO_BYTE, skipSpace } from './json-tokens.ts'

/** What a body may hold at most; beyond it nothing is read. */
export interface ReadLimits {
  readonly maxBytes: number
  /** Levels of nesting, as for `parseJson`: `[]` is 1. */
  readonly maxDepth: number
  /** Selected values; what is passed over does not count. */
  readonly maxValues: number
}

/** Items of an array that were read in another text, which begins with the same bytes. */
export interface KnownItems {
  /** What was read of each. */
  readonly selection: Selection
  readonly items: readonly JsonNode[]
  /** Bytes from the start on that are the same. */
  readonly bytes: number
}

/**
 * Reads what is selected of one JSON text (RFC 8259, UTF-8, no byte order mark), in one pass. All
 * of the text is checked: if this gives a node, `JSON.parse` gives a value. `null` for any other
 * bytes, and beyond a limit. Recursion goes as deep as the selection, never as deep as the text.
 * Of a large text that was checked (`checkLargeJson`), no member is looked for in an object that
 * has very many.
 * @param known items that are not read again
 */
export function readJson(
  body: JsonBytes,
  selection: Selection,
  limits: ReadLimits,
  known?: KnownItems,
): JsonNode | null {
  const checked = checkedJson(body)
  if (body.length > limits.maxBytes || checked?.isFaulty) return null
  if (checked === undefined && !isUtf8(body)) return null
  try {
    return new JsonReader(body, limits, known).root(selection)
  } catch (error) {
    if (error instanceof NotReadable) return null
    throw error
  }
}

/** Longer keys are not read, escapes included, unless they are selected. */
const MAX_OTHER_BYTES = 512

class NotReadable extends Error {}

class JsonReader {
  readonly #body: JsonBytes
  readonly #limits: ReadLimits
  readonly #known: KnownItems | undefined
  readonly #checked: CheckedJson | undefined
  /** The opening bytes of the containers that are passed over. */
  readonly #open: number[] = []
  #at = 0
  /** Containers of the selection around `at`. */
  #depth = 0
  #values = 0

  constructor(body: JsonBytes, limits: ReadLimits, known: KnownItems | undefined) {
    this.#body = body
    this.#limits = limits
    this.#known = known
    this.#checked = checkedJson(body)
  }

  root(selection: Selection): JsonNode {
    const node = this.#read(selection, '', -1)
    if (this.#space() !== NO_BYTE) throw new NotReadable()
    return node
  }

  #read(selection: Selection, key: string, keyStart: number): JsonNode {
    if (++this.#values > this.#limits.maxValues) throw new NotReadable()
    const first = this.#space()
    const start = this.#at
    const node: JsonNode = {
      start,
      end: start,
      key,
      keyStart,
      members: null,
      items: null,
      others: null,
      doubled: false,
    }
    if (first === OPEN_BRACE && selection.keys.length > 0) this.#members(node, selection)
    else if (first === OPEN_BRACKET && selection.items !== null) this.#items(node, selection.items)
    else this.#skip()
    node.end = this.#at
    return node
  }

  #members(node: JsonNode, { keys, others }: Selection): void {
    if (this.#checked?.wide.has(this.#body.byteOffset + this.#at)) throw new NotReadable()
    if (this.#enter(CLOSE_BRACE)) return
    do {
      const keyStart = this.#key()
      const key = this.#selected(keys, keyStart)
      const other = key === undefined && others !== undefined ? this.#otherKey(keyStart) : ''
      this.#colon()
      if (key === undefined) {
        if (other !== '' && others!(other)) this.#other(node, other, keyStart)
        else this.#skip()
        continue
      }
      const value = this.#read(key.value, key.name, keyStart)
      addMember(node, value)
    } while (this.#comma())
    this.#leave(CLOSE_BRACE)
  }

  /** The key whose literal lies from `start` to `at`; empty if it is too long for a name. */
  #otherKey(start: number): string {
    const end = this.#at
    return end - start > MAX_OTHER_BYTES ? '' : textOf(this.#body, { start, end })!
  }

  #other(node: JsonNode, key: string, keyStart: number): void {
    node.others ??= []
    node.others.push(this.#read(RANGE, key, keyStart))
  }

  #items(node: JsonNode, selection: Selection): void {
    node.items = []
    if (this.#enter(CLOSE_BRACKET)) return
    if (this.#known?.selection === selection && !this.#knownItems(node.items, this.#known)) return
    do node.items.push(this.#read(selection, '', -1))
    while (this.#comma())
    this.#leave(CLOSE_BRACKET)
  }

  /**
   * Takes over the items that were read before from here on; `false` if nothing follows them. An
   * object is the same if all its bytes are; a number only if the byte after it is, too.
   */
  #knownItems(items: JsonNode[], { items: known, bytes }: KnownItems): boolean {
    this.#space()
    let next = known.findIndex(({ start }) => start === this.#at)
    if (next === -1) return true
    for (; next < known.length; next++) {
      const item = known[next]!
      const { end } = item
      const isObject = this.#body[end - 1] === CLOSE_BRACE
      if (end > bytes || (end === bytes && !isObject)) break
      this.#space()
      if (item.start !== this.#at) break
      items.push(item)
      this.#at = item.end
      if (this.#comma()) continue
      this.#leave(CLOSE_BRACKET)
      return false
    }
    return true
  }

  /** Into the container at `at`; `true` if it is empty, and then after it. */
  #enter(closer: number): boolean {
    if (++this.#depth > this.#limits.maxDepth) throw new NotReadable()
    this.#at++
    if (this.#space() !== closer) return false
    this.#leave(closer)
    return true
  }

  #leave(closer: number): void {
    if (this.#space() !== closer) throw new NotReadable()
    this.#at++
    this.#depth--
  }

  /** Moves after the value at `at`, whatever it is. */
  #skip(): void {
    if (this.#checked !== undefined && this.#skipChecked(this.#checked)) return
    const open = this.#open
    do {
      const c = this.#space()
      if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        this.#at++
        open.push(c)
        if (this.#depth + open.length > this.#limits.maxDepth) throw new NotReadable()
        if (this.#space() !== closerOf(c)) {
          if (c === OPEN_BRACE) this.#skipKey()
          continue
        }
      } else this.#scalar(c)
      this.#close()
    } while (open.length > 0)
  }

  #skipChecked({ ends }: CheckedJson): boolean {
    this.#space()
    const end = ends.get(this.#body.byteOffset + this.#at)
    if (end === undefined) return false
    this.#at = end - this.#body.byteOffset
    if (this.#at > this.#body.length) throw new NotReadable()
    return true
  }

  /**
   * After a value: out of every container that ends here, and to the next value, if one follows.
   */
  #close(): void {
    const open = this.#open
    for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
      const c = this.#space()
      if (c === COMMA) {
        this.#at++
        if (inner === OPEN_BRACE) this.#skipKey()
        return
      }
      if (c !== closerOf(inner)) throw new NotReadable()
      this.#at++
      open.pop()
    }
  }

  #scalar(first: number): void {
    const end =
      first === QUOTE ? endOfString(this.#body, this.#at) : endOfScalar(this.#body, this.#at)
    if (end === -1) throw new NotReadable()
    this.#at = end
  }

  #skipKey(): void {
    this.#key()
    this.#colon()
  }

  /** Moves after a key; returns where its literal starts. */
  #key(): number {
    if (this.#space() !== QUOTE) throw new NotReadable()
    const start = this.#at
    this.#scalar(QUOTE)
    return start
  }

  /** What is selected of the key whose literal lies from `start` to `at`. */
  #selected(keys: readonly SelectedKey[], start: number): SelectedKey | undefined {
    const length = this.#at - start - 2
    let mayBeEscaped = false
    for (const key of keys) {
      if (length < key.bytes.length) continue
      const unlike = this.#firstUnlike(start + 1, key.bytes)
      if (unlike === -1 && length === key.bytes.length) return key
      // An escape has at most six bytes for a character.
      mayBeEscaped ||=
        unlike !== -1 && this.#body[unlike] === BACKSLASH && length <= 6 * key.bytes.length
    }
    if (!mayBeEscaped) return undefined
    const name = parseAt(this.#body, { start, end: this.#at })
    return keys.find(key => key.name === name)
  }

  /** The first offset from `at` on whose byte is another than in `bytes`; -1 if there is none. */
  #firstUnlike(at: number, bytes: Uint8Array): number {
    for (let i = 0; i < bytes.length; i++) if (this.#body[at + i] !== bytes[i]) return at + i
    return -1
  }

  #colon(): void {
    if (this.#space() !== COLON) throw new NotReadable()
    this.#at++
  }

  #comma(): boolean {
    if (this.#space() !== COMMA) return false
    this.#at++
    return true
  }

  /** Moves over white space; gives the byte there. */
  #space(): number {
    this.#at = skipSpace(this.#body, this.#at)
    return byteAt(this.#body, this.#at)
  }
}

/** In ASCII the closing byte is the opening one plus two. */
function closerOf(opener: number): number {
  return opener + 2
}

/** The last of equal keys stays. */
function addMember(node: JsonNode, value: JsonNode): void {
  node.members ??= []
  const earlier = node.members.findIndex(({ key }) => key === value.key)
  if (earlier === -1) node.members.push(value)
  else {
    node.doubled = true
    node.members[earlier] = value
  }
}
