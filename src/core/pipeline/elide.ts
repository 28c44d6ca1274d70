import { toBytes } from '../base/text-bytes.ts'
import type { ElisionHint } from '../hints/hint.ts'
import { BREAK_EVEN } from '../hints/policy.ts'
import type { Omission } from '../reduce/budget/prune-value.ts'
import type { DiffLevel } from '../reduce/elide/view-diff.ts'
import type { TokenCounter } from '../tokens/counter.ts'
import {
  elidedBy,
  type FitOptions,
  type FitOutcome,
  isRetrieved,
  lookAlikesIn,
  searchesFor,
} from './fit-budget.ts'
import type { Choice } from './gate.ts'
import { isJsonAsked, markJson } from './json-marker.ts'
import type { LayerInput } from './layer.ts'
import { type Left, leftOf } from './left-parts.ts'
import { annotate, NO_NOTES, notesFor } from './notes.ts'
import type { ElisionProfile } from './profile/resolve.ts'
import { type ShownByView, wordsOf } from './view.ts'
import { fullestMarker, markerOf, originalId, placesToName } from './within-budget.ts'
import { trimmedFormat } from './wrapped-format.ts'

/**
 * Places that a marker names at most; fewer of a view, which shows the objects that they are in. Of
 * such a rest, the marker takes this share at most.
 */
const MAX_PLACES = 16
const MAX_VIEW_PLACES = 2
const MARKER_SHARE = 1 / 8

/** Options for leaving parts out without a budget. */
export type ElideOptions = FitOptions & {
  readonly elision: ElisionProfile
  /** The level that asks for it; absent: mode `elide` does. */
  readonly level?: DiffLevel | undefined
  /** What a view shows of it; `null` if no view applies. */
  readonly shown: ShownByView | null
  /**
   * The smallest text without what elision leaves out; absent: only what a view does not show goes,
   * whatever that saves.
   */
  readonly base?: Pick<Choice, 'tokens'>
}

/**
 * The rest of a content without its bulk, in mode `elide` without a budget, with a marker that
 * represents all of it.
 * @param lossless the smallest lossless text
 * @returns `null` if nothing may be left out, or too little would be saved
 */
export function elideContent(
  input: LayerInput,
  lossless: Choice,
  options: ElideOptions,
): FitOutcome | null {
  if (!mayElide(input, options)) return null
  const left = leftOf(input, options)
  if (left === null || left.omissions.length === 0) return null
  const writeMarker = options.gate.admitMarker()
  if (writeMarker === null) return null
  return writeLeft(input, lossless, left, { ...options, writeMarker })
}

/**
 * A text whose lines are partly references, without the bulk of its other lines.
 * @param lines the text with references and all of its other lines
 * @param left what is left of it
 * @returns `null` if nothing may be left out, or too little would be saved
 */
export function elideBeside(
  input: LayerInput,
  lines: Choice,
  left: Left,
  options: ElideOptions,
): FitOutcome | null {
  if (!mayElide(input, options)) return null
  const writeMarker = options.gate.admitMarker()
  return writeMarker && writeLeft(input, lines, left, { ...options, writeMarker })
}

function mayElide(
  input: LayerInput,
  { keepsOriginals, elision, shown, level }: ElideOptions,
): boolean {
  const { request, content } = input
  if (shown !== null) return keepsOriginals && elision.enabled
  return (
    (request.mode === 'elide' || level !== undefined) &&
    request.budget_tokens === undefined &&
    request.is_error !== true &&
    keepsOriginals &&
    elision.enabled &&
    !isRetrieved(input, elision.retrievingTools) &&
    Buffer.byteLength(content) >= elision.minBlockBytes
  )
}

/** The rest in its smallest form with its marker, if that saves enough. */
function writeLeft(
  input: LayerInput,
  lossless: Choice,
  { content, omissions, covered, ...marks }: Left,
  {
    gate,
    choose,
    elision,
    shown,
    base,
    searches,
    writeMarker: write,
  }: ElideOptions & { writeMarker(marker: ElisionHint): string | null },
): FitOutcome | null {
  const { request, prices, value } = input
  const { counter } = prices
  const original = toBytes(input.content)
  const hash = originalId(original)
  const kept = choose(content, marks)
  const isValue = typeof value === 'object' && value !== null
  const named = isValue ? placesToName(omissions, kept) : []
  const saved = lossless.tokens - kept.tokens
  const pays = (line: string | null): line is string =>
    line !== null && saved > BREAK_EVEN * counter.count(line)
  const marker = markersOf({ hash, omissions, named, shown }, kept, counter, write).find(pays)
  if (marker === undefined) return null
  const gain = { saved_tokens: saved, counter }
  const asJson = isValue && isJsonAsked(input)
  const written = { format: kept.format, usual: undefined, ...searchesFor(kept, searches) }
  const notes = asJson ? NO_NOTES : notesFor(request, written, gain, gate)
  const whole = asJson
    ? markJson(value, kept.content, marker)
    : `${annotate(kept.content, notes)}\n${marker}`
  const tokens = prices.price(whole)
  if (tokens === null || tokens > lossless.tokens * elision.maxRatio) return null
  const part = elidedBy({ hash, omissions }, Math.min(lossless.tokens, prices.baseline) - tokens)
  if (base !== undefined && base.tokens - tokens < leastSavedOf(part, elision)) return null
  return {
    content: whole,
    layer: lossless.layer,
    format: trimmedFormat(kept.format),
    tokens,
    hints: [...notes.before, ...notes.after, { family: 'elision', text: marker }],
    elided: [part],
    keep: [original],
    ...(covered && { covered }),
    ...lookAlikesIn(kept),
    ...(shown === null ? {} : { view: shown.view }),
  }
}

/** Tokens that an answer must save which lacks such parts. */
export function leastSavedOf(
  { unit }: FitOutcome['elided'][number],
  { leastSaved }: Pick<ElisionProfile, 'leastSaved'>,
): number {
  return unit === 'items' ? leastSaved.items : leastSaved.text
}

/** Markers to choose from, the fullest one first. */
function markersOf(
  { hash, omissions, named, shown }: Markable,
  kept: Choice,
  counter: TokenCounter,
  write: (marker: ElisionHint) => string | null,
): readonly (string | null)[] {
  // If lists have no gaps in them, only the marker names the places of missing items. A view names
  // its fields in words; their places are those of the objects that are shown.
  const isShort = (line: string) =>
    (kept.isMarked !== true && shown === null) || counter.count(line) <= kept.tokens * MARKER_SHARE
  const most = shown !== null ? MAX_VIEW_PLACES : MAX_PLACES
  const limits = shown === null ? [0] : WORD_LIMITS
  return limits.map(limit => {
    const words = shown === null ? '' : wordsOf(shown, limit)
    const worded = (marker: ElisionHint) =>
      write(words === '' ? marker : { ...marker, summary: words })
    return (
      fullestMarker(hash, { omissions, named }, worded, isShort, most) ??
      worded(markerOf(hash, omissions, 0))
    )
  })
}

/** Characters of the names that a view's marker has, if it pays. */
const WORD_LIMITS = [72, 28]

interface Markable extends Pick<Left, 'omissions'> {
  readonly hash: string
  /** Places that it may name. */
  readonly named: readonly Omission[]
  readonly shown: ShownByView | null
}
