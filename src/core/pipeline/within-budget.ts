import { hash } from 'node:crypto'
import { type TextBytes, toBytes } from '../base/text-bytes.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import type { ElidedPart, ElisionHint } from '../hints/hint.ts'
import { type Document, documentOf, type Pruned } from '../reduce/budget/document.ts'
import { firstPartsOf, mostThatFit } from '../reduce/budget/first-parts.ts'
import { fitDocument } from '../reduce/budget/fit.ts'
import type { Plan } from '../reduce/budget/plan.ts'
import type { Omission } from '../reduce/budget/prune-value.ts'
import type { Valuation } from '../reduce/budget/strategies.ts'
import type { Choice } from './gate.ts'
import { isJsonAsked, markJson } from './json-marker.ts'
import type { LayerInput } from './layer.ts'
import type { LeftMarks } from './marked-lines.ts'
import { annotate, NO_NOTES, type Notes } from './notes.ts'

/** The part of a content that fits a budget. */
export interface WithinBudget {
  /** The smallest text of what is kept, with the marker after it. */
  readonly content: string
  readonly format: string
  /** Tokens of all of it, the marker too. */
  readonly tokens: number
  readonly marker: string
  readonly hash: string
  readonly omissions: readonly Omission[]
  readonly pruned: Pruned
  readonly plan: Plan
  /** To be kept durably before the answer leaves. */
  readonly original: TextBytes
  readonly lookAlikes?: number
}

/** Hex digits of the SHA-256 that an original is fetched by. */
const HASH_CHARS = 24
/** Places that a marker names at most, and the share of the budget that it may take for that. */
const MAX_PLACES = 3
const MARKER_SHARE = 1 / 8
/** The same if it alone says which fields were left out, so that it is not sent without. */
const CELLS_SHARE = 1 / 4

/** Options for the notes and the marker beside the kept part. */
export interface WithinOptions {
  readonly valuation: Valuation
  readonly notes: Notes
  /** Those of them that are sent if room is left for more of them; all if absent. */
  readonly sent?: Notes
  /** The document to plan; absent: the content by its parts. */
  readonly document?: Document
  /**
   * Lines between the kept part and the marker, the fullest first. The first that is short enough
   * is used, or none. Also returns the chunk that the marker names as the next one.
   */
  beside?(pruned: Pruned): Pick<ElisionHint, 'next'> & { readonly lines: Iterable<string> }
  /** Returns `null` if the marker cannot be written. */
  writeMarker(marker: ElisionHint): string | null
  choose(content: string, marks?: LeftMarks): Choice
}

/** Share of the budget that lines beside the text may take. */
const BESIDE_SHARE = 1 / 6

/**
 * The most valuable part of a content within a budget, with a marker that represents all of it. A
 * content that must be JSON stays JSON: the marker is its last item or member, and nothing else is
 * beside it.
 * @param choose the smallest lossless text of a content, as for one that needs no budget
 * @returns if nothing fits, the fewest tokens of any part with its marker; `Infinity` if nothing
 *   may be left out
 */
export function withinBudget(
  input: LayerInput,
  budget: number,
  options: WithinOptions,
): WithinBudget | { readonly minimum: number } {
  const { content, prices } = input
  const original = toBytes(content)
  const id = originalId(original)
  const { counter } = prices
  const asJson = isJsonAsked(input)
  const written = (
    pruned: Choice,
    marker: string | null,
    lines: readonly string[],
    { notes, sent: sentNotes }: Pick<WithinOptions, 'notes' | 'sent'> = options,
  ) => {
    if (marker === null) return NOTHING
    const wholeWith = (notes: Notes) =>
      asJson
        ? markJson(input.value, pruned.content, marker)
        : `${annotate([pruned.content, ...lines].join('\n'), notes)}\n${marker}`
    // A text that is not smaller by every witness must not leave (promise 2).
    const priceOf = (text: string) => prices.price(text) ?? Infinity
    const planned = wholeWith(notes)
    const content = sentNotes === undefined ? planned : wholeWith(sentNotes)
    const tokens = priceOf(planned)
    const sent = content === planned ? tokens : priceOf(content)
    const { format, lookAlikes } = pruned
    const escaped = lookAlikes === undefined ? {} : { lookAlikes }
    return { content, format, marker, tokens: Math.max(tokens, sent), sent, ...escaped }
  }
  const choose = (pruned: Pruned) => options.choose(pruned.content, marksOf(pruned, asJson))
  const leastTokens = (pruned: Pruned) => {
    const { omissions } = pruned
    if (omissions.length === 0) return Number.POSITIVE_INFINITY
    const marker = options.writeMarker(markerOf(id, omissions, 0))
    return written(choose(pruned), marker, [], { notes: NO_NOTES }).tokens
  }
  const document = options.document ?? documentWithin(input, budget, options, leastTokens)
  const fitted = fitDocument(document, budget, pruned => {
    const { omissions } = pruned
    // All was kept, which is known not to fit.
    if (omissions.length === 0) return NOTHING
    const kept = choose(pruned)
    const { lines = [], ...next } = options.beside?.(pruned) ?? {}
    const write = (marker: ElisionHint) => options.writeMarker({ ...marker, ...next })
    const brief = write(markerOf(id, omissions, 0))
    const named = placesToName(omissions, kept)
    const isOfCells = named[0]?.unit === 'fields' && named.length <= MAX_PLACES
    const share = isOfCells ? CELLS_SHARE : MARKER_SHARE
    const isShort = (line: string) => counter.count(line) <= budget * share
    const marker = fullestMarker(id, { omissions, named }, write, isShort)
    const isBeside = (line: string) => counter.count(line) <= budget * BESIDE_SHARE
    const index = asJson ? [] : firstShort(lines, isBeside)
    const full = written(kept, marker ?? brief, index)
    const isFixed = full.marker === brief || isOfCells
    return full.tokens <= budget || isFixed ? full : written(kept, brief, index)
  })
  if ('minimum' in fitted) return fitted
  const { text, plan, pruned } = fitted
  const { content: whole, sent: tokens, ...said } = text
  const { omissions } = pruned
  return { ...said, content: whole, tokens, hash: id, omissions, pruned, plan, original }
}

/** The content by its parts, of which those that come first are kept as far as they fit. */
function documentWithin(
  input: LayerInput,
  budget: number,
  { valuation }: WithinOptions,
  tokensOf: (pruned: Pruned) => number,
): Document {
  const { counter } = input.prices
  const first = firstPartsOf(input, counter, valuation)
  const chosen = first?.chosen(mostThatFit(first, budget, tokensOf))
  return documentOf(input, counter, valuation, budget, chosen)
}

function marksOf({ marked }: Pruned, asJson: boolean): LeftMarks {
  return marked === undefined || asJson ? {} : { marked }
}

function firstShort(
  texts: Iterable<string>,
  isShort: (text: string) => boolean,
): readonly string[] {
  for (const text of texts) if (isShort(text)) return [text]
  return []
}

/** The id by which an original is fetched. */
export function originalId({ bytes }: TextBytes): string {
  return hash('sha256', bytes, 'hex').slice(0, HASH_CHARS)
}

const NOTHING = {
  content: '',
  format: PASSTHROUGH,
  marker: '',
  tokens: Infinity,
  sent: Infinity,
}

/**
 * The marker that names the most places, at most `most`, and is still short enough; `null` if none
 * is.
 */
export function fullestMarker(
  id: string,
  {
    omissions,
    named,
  }: { readonly omissions: readonly Omission[]; readonly named: readonly Omission[] },
  write: (marker: ElisionHint) => string | null,
  isShort: (line: string) => boolean,
  most = MAX_PLACES,
): string | null {
  for (let places = Math.min(most, named.length); places > 0; places--) {
    const line = write(markerOf(id, omissions, places, named))
    if (line !== null && isShort(line)) return line
  }
  return null
}

/**
 * Places that a marker may name. Gaps show those of missing items, but nothing in a table shows
 * which of its empty cells were left out.
 */
export function placesToName(
  omissions: readonly Omission[],
  { isMarked }: Pick<Choice, 'isMarked'>,
): readonly Omission[] {
  const fields = omissions.filter(({ unit }) => unit === 'fields')
  if (fields.length > 0 && fields.length <= MAX_PLACES) return fields
  return isMarked ? [] : omissions
}

/**
 * A marker that names the places at which most is missing, and sums up the rest by unit.
 * @param named the places that it may name
 */
export function markerOf(
  id: string,
  omissions: readonly Omission[],
  places: number,
  named = omissions,
): ElisionHint {
  const most = new Set(named.toSorted((a, b) => b.omitted - a.omitted).slice(0, places))
  const rest = new Map<string, { unit: string; omitted: number; of?: number }>()
  const listOf = new Map<string, string>()
  for (const omission of omissions) {
    if (most.has(omission)) continue
    const { unit, omitted, of, at } = omission
    const list = at.replace(WITHIN, '')
    const sum = rest.get(unit)
    if (sum === undefined) {
      rest.set(unit, { unit, omitted, ...(of !== undefined && { of }) })
      listOf.set(unit, list)
      continue
    }
    sum.omitted += omitted
    if (listOf.get(unit) !== list || sum.of !== of) delete sum.of
  }
  const parts: ElidedPart[] = omissions.filter(omission => most.has(omission))
  for (const item of rest.values()) parts.push(item)
  return { family: 'elision', hash: id, parts }
}

/** A run within a list or within the lines of a text. What is before it names the list. */
const WITHIN = /\[\d+:\d+\]$|^lines .*$/
