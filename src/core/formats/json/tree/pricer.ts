import type { ObjectValue, Value } from '../../../json/value.ts'
import type { Uses } from '../../../reading/constructs.ts'
import { priceOfUse } from '../../../reading/price.ts'
import type { TokenCounter } from '../../../tokens/counter.ts'
import { contentOf } from '../../text-content.ts'
import { FEWEST_TOKENS, type TreeStyle } from './style.ts'
import { NOT_IN_INLINE_KEY, NOT_IN_KEY } from './syntax.ts'
import { type Piece, priceOf, type Trace } from './trace.ts'
import { isPlain, quoteText } from './write-text.ts'

/** Tokens of a text: exact, or estimated from its length if no counter is given. */
export interface Pricer {
  readonly style: TreeStyle
  /** `undefined` unless the caller wants to know how the text was chosen. */
  readonly trace: Trace | undefined
  /** The shapes that the text may use; `undefined` if there are none. */
  readonly shapes: ShapeWriter | undefined
  tokens(text: string): number
  piece(text: string): Piece
  /** Whether the tokens of parts add up at safe boundaries. */
  readonly additive: boolean
  /** The texts of an object's keys; objects of one list of keys share them. */
  keyTexts(keys: readonly string[]): readonly KeyTexts[]
}

/** Writes the objects that have a declared shape. */
export interface ShapeWriter {
  /** Whether the value has a shape, or an object inside it has one. */
  reaches(value: Value): boolean
  /** The name and the cells of an object; `null` if it has no shape. */
  write(value: ObjectValue): string | null
  /**
   * The same with its price.
   * @param inner the texts of the members that are containers; `null` for a scalar
   */
  piece(value: ObjectValue, inner: readonly (Piece | null)[], pricer: Pricer): Piece | null
}

/** A key as it is written on a line, in brackets without quotes, and in JSON. */
export interface KeyTexts {
  readonly line: string
  readonly bare: string
  readonly json: string
}

/** Lists of keys remembered with their texts; more would cost memory where they do not repeat. */
const MAX_KNOWN_LISTS = 1024

const CHARS_PER_TOKEN = 3.5

/**
 * Added to the price of brackets that are too long. It is above the tokens of any document, so that
 * as few of them as possible are taken. It is so small that a million of them are still counted
 * exactly.
 */
const TOO_LONG = 2 ** 32

export function createPricer(
  counter: TokenCounter | undefined,
  style: TreeStyle = FEWEST_TOKENS,
  trace?: Trace,
): Pricer {
  const tokens =
    counter === undefined
      ? (text: string) => text.length / CHARS_PER_TOKEN
      : (text: string) => counter.count(text)
  const known = new Map<readonly string[], readonly KeyTexts[]>()
  return {
    style,
    tokens,
    piece: text => ({ text, tokens: tokens(text), surcharge: 0 }),
    additive: counter?.additive === true,
    keyTexts(keys) {
      let texts = known.get(keys)
      if (texts === undefined) {
        texts = keys.map(writeKey)
        if (known.size < MAX_KNOWN_LISTS) known.set(keys, texts)
      }
      return texts
    },
    trace,
    shapes: undefined,
  }
}

/** To look a key up among known ones takes longer than this. */
function writeKey(key: string): KeyTexts {
  const bits = contentOf(key)
  const json = quoteText(key, bits)
  if (!isPlain(key)) return { line: json, bare: json, json }
  return {
    line: (bits & NOT_IN_KEY) === 0 ? key : json,
    bare: (bits & NOT_IN_INLINE_KEY) === 0 ? key : json,
    json,
  }
}

/** A piece whose text is written when it is first asked for, since most are compared only. */
export class LazyPiece implements Piece {
  readonly tokens: number
  readonly surcharge: number
  readonly uses: Uses | undefined
  readonly #write: () => string
  #text: string | undefined

  constructor(tokens: number, surcharge: number, write: () => string, uses?: Uses) {
    this.tokens = tokens
    this.surcharge = surcharge
    this.uses = uses
    this.#write = write
  }

  get text(): string {
    this.#text ??= this.#write()
    return this.#text
  }
}

/** A piece after some text, which has so many tokens. */
export class PrefixedPiece implements Piece {
  readonly tokens: number
  readonly surcharge: number
  readonly uses: Uses | undefined
  readonly #before: string
  readonly #piece: Piece

  constructor(before: string, piece: Piece, tokens: number) {
    this.tokens = piece.tokens + tokens
    this.surcharge = piece.surcharge
    this.uses = piece.uses
    this.#before = before
    this.#piece = piece
  }

  get text(): string {
    return this.#before + this.#piece.text
  }
}

/** Brackets of so many tokens with their surcharge, and that of what is inside. */
export function bracketPiece(
  tokens: number,
  write: () => string,
  style: TreeStyle,
  inner = { tokens: 0, surcharge: 0 },
): Piece {
  // The text of a piece that is weighed by its length is needed at once.
  const text = style.maxBracketChars === Number.POSITIVE_INFINITY ? null : write()
  const surcharge = bracketSurcharge(text ?? '', tokens, style) + inner.surcharge
  return new LazyPiece(tokens + inner.tokens, surcharge, text === null ? write : () => text)
}

/** The price of brackets in addition to their tokens. */
export function bracketSurcharge(text: string, tokens: number, style: TreeStyle): number {
  return tokens * priceOfUse(style.reading, 'brackets') + excess(text, style)
}

/** The surcharge for brackets that are too long. */
export function excess(bracketed: string, { maxBracketChars }: TreeStyle): number {
  return bracketed.length > maxBracketChars ? TOO_LONG : 0
}

type MaybePiece = Piece | null

/**
 * The cheapest of the pieces, of equal ones the first. Parameters, since a list of them would take
 * as long as the comparison.
 */
export function cheapest(
  first: Piece,
  second: MaybePiece,
  third: MaybePiece = null,
  fourth: MaybePiece = null,
  fifth: MaybePiece = null,
): Piece {
  return cheaper(cheaper(cheaper(cheaper(first, second), third), fourth), fifth)
}

function cheaper(first: Piece, second: MaybePiece): Piece {
  return second !== null && priceOf(second) < priceOf(first) ? second : first
}
