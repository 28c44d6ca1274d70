import { AppError } from '../base/errors.ts'
import type { TextBytes } from '../base/text-bytes.ts'
import type { EncodeAnswer } from '../contract/encode.ts'
import type { HintGate } from '../hints/policy.ts'
import type { ObjectValue } from '../json/value.ts'
import { STRATEGIES, type Valuation } from '../reduce/budget/strategies.ts'
import { rankLists } from '../reduce/elide/rank-items.ts'
import { BULK, CRITICAL } from '../reduce/elide/reducer.ts'
import { failureLines, rankText } from '../reduce/elide/text-reducers.ts'
import type { ViewLevel } from '../reduce/views/level.ts'
import type { CoveredLines } from '../sessions/lines/covered-lines.ts'
import type { Referral } from '../sessions/turn/referral.ts'
import type { TrimAlgorithm } from '../solvers/tree/trim-tree.ts'
import type { Choice } from './gate.ts'
import { isJsonAsked } from './json-marker.ts'
import type { LayerInput } from './layer.ts'
import type { LeftMarks } from './marked-lines.ts'
import { annotate, NO_NOTES, notesFor, type Searches } from './notes.ts'
import { isRetrieving } from './profile/retrieving-tools.ts'
import {
  checkWhole,
  type ItemTrim,
  itemTrim,
  selectsItems,
  type TrimmedItems,
} from './trim-items.ts'
import { type WithinBudget, type WithinOptions, withinBudget } from './within-budget.ts'
import { notedFormat, trimmedFormat, withoutEscapes } from './wrapped-format.ts'

/** The text to send, and what was left out of it. */
export interface FitOutcome extends Choice {
  readonly hints: EncodeAnswer['hints']
  readonly elided: EncodeAnswer['elided']
  /** To be kept before it leaves. */
  readonly keep: readonly TextBytes[]
  /** Its lines that the text lacks or has as references; absent: others cannot be counted there. */
  readonly covered?: CoveredLines
  /** Present if it has references to earlier results. */
  readonly referral?: Referral
  /** The part of the saved tokens that references alone save; absent: all of them. */
  readonly referredTokens?: number
  /** The level that left something out; absent: none did. */
  readonly level?: ViewLevel
  /** The view that left something out; absent: none did. */
  readonly view?: string
  /** How good the choice of parts is, if some were left out. */
  readonly trimmed?: TrimmedItems
}

/** Options for an answer other than its smallest lossless text. */
export interface FitOptions {
  readonly gate: HintGate
  /** The same for a session that had no hints yet. */
  readonly freshGate: HintGate
  readonly valuation: Valuation
  /** The format that this endpoint's results usually have, by name. */
  readonly usual: string | undefined
  /** Searches among the last calls; `undefined` if nothing may be said of them. */
  readonly searches: Omit<Searches, 'tokens'> | undefined
  /** How a list of items is trimmed; see `TrimAlgorithm`. */
  readonly algorithm: TrimAlgorithm | 'auto'
  /** Tools by which agents fetch originals. */
  readonly retrievingTools: readonly string[]
  /** Whether originals can be kept, so that parts may be left out. */
  readonly keepsOriginals: boolean
  /**
   * The smallest lossless text of another content.
   * @param innerMarks marks of ours in strings of it
   */
  choose(content: string, marks?: LeftMarks): Choice
}

/**
 * The lossless text with its notes if that fits the budget. Otherwise the part of the content that
 * fits, if the request's mode allows that. @throws AppError `budget_too_small` with the fewest
 * tokens that an answer takes; `invalid_request` if parts must be left out and originals are not
 * kept
 */
export function fitBudget(input: LayerInput, lossless: Choice, options: FitOptions): FitOutcome {
  const { budget_tokens: budget = Infinity, mode = 'lossless', is_error } = input.request
  const fits = lossless.tokens <= budget
  // An error is sent in full or not at all, and a part of a scalar is not JSON.
  const isPlain = typeof input.value === 'object' && input.value !== null
  const isFixed =
    is_error === true ||
    isRetrieved(input, options.retrievingTools) ||
    (isJsonAsked(input) && !isPlain)
  const mayGo = mode !== 'lossless' && !isFixed
  const selects = mode === 'trim' && mayGo && selectsItems(input.request)
  if (fits && !selects) return withNotes(input, lossless, options)
  if (!mayGo) throw tooSmall(budget, lossless.tokens, 'lossless')
  if (!options.keepsOriginals) {
    const message = 'leaving parts out needs the service, which keeps the original'
    throw new AppError('invalid_request', `mode: ${message}`, {
      errors: [{ path: 'mode', message }],
    })
  }
  return trim(input, lossless, budget, options)
}

/** The text with the notes that save tokens and fit. */
function withNotes(input: LayerInput, text: Choice, options: FitOptions): FitOutcome {
  const { request, prices } = input
  const { budget_tokens: budget = Infinity } = request
  const plain = { ...text, hints: [], elided: [], keep: [] }
  if (isJsonAsked(input)) return plain
  const gain = { saved_tokens: prices.baseline - text.tokens, counter: prices.counter }
  const { format } = withoutEscapes(text.format)
  const { usual, searches } = options
  const written = { format, usual, sizes: sizesOf(input), ...searchesFor(text, searches) }
  const notes = notesFor(request, written, gain, options.gate)
  const content = annotate(text.content, notes)
  const tokens = content === text.content ? null : prices.price(content)
  if (tokens === null || tokens > budget) return plain
  return {
    ...plain,
    content,
    tokens,
    format: notedFormat(text.format, notes),
    hints: [...notes.before, ...notes.after],
  }
}

/** A text answers the last of these searches. */
export function searchesFor(
  { tokens }: Pick<Choice, 'tokens'>,
  searches: FitOptions['searches'],
): { searches?: Searches } {
  return searches === undefined ? {} : { searches: { ...searches, tokens } }
}

/** Rows and columns of a list of objects with the same keys, or of a table in Markdown. */
function sizesOf({ shape, value }: LayerInput): { rows?: number; columns?: number } {
  const { n_rows: rows = shape.n_items, n_cols } = shape
  const isTable = shape.shape === 'array_of_objects' && shape.key_stability === 1
  const first = isTable && Array.isArray(value) ? (value[0] as ObjectValue) : undefined
  const columns = n_cols ?? first?.keys.length
  return rows === undefined || columns === undefined ? {} : { rows, columns }
}

/**
 * The most valuable parts that fit, with a marker for the rest; with notes if these fit too. All of
 * it if that fits and takes no more than the budget of the request.
 */
function trim(
  input: LayerInput,
  lossless: Choice,
  budget: number,
  options: FitOptions,
): FitOutcome {
  const { gate, valuation, choose, algorithm } = options
  const { request, prices } = input
  const fits = lossless.tokens <= budget
  if (fits && request.level === undefined && request.chunk !== undefined) checkWhole(request)
  const itemsAt = (most: number) =>
    request.mode === 'trim'
      ? itemTrim(input, most, { valuation, algorithm, lossless: lossless.tokens })
      : null
  const items = itemsAt(budget)
  if (fits && items === null) return withNotes(input, lossless, options)
  const writeMarker = gate.admitMarker()
  if (writeMarker === null) {
    if (fits) return withNotes(input, lossless, options)
    throw tooSmall(budget, lossless.tokens, 'lossless')
  }
  const gain = { saved_tokens: prices.baseline - budget, counter: prices.counter }
  // The rest may have another format than the whole, so no note names the format.
  const written = { format: lossless.format, usual: undefined }
  const notesBy = (each: HintGate) =>
    isJsonAsked(input) ? NO_NOTES : notesFor(request, written, gain, each)
  const notes = notesBy(gate)
  const parts = { writeMarker, choose, notes }
  const trimAt = (most: number, list: ItemTrim | null) =>
    list === null
      ? trimParts(input, most, { ...parts, valuation: contentValuation(input, valuation) })
      : // Room is left for notes of which the session has had enough, so that chunks are the same in each of its requests.
        list({ ...parts, notes: notesBy(options.freshGate), sent: notes })
  const found = trimAt(budget, items)
  if ('minimum' in found) {
    if (fits) return withNotes(input, lossless, options)
    const minimum = fewestTokens(found.minimum, lossless.tokens, most =>
      trimAt(most, itemsAt(most)),
    )
    throw tooSmall(budget, minimum, 'of it')
  }
  const { trimmed } = found
  if (fits && trimmed.tokens >= lossless.tokens) return withNotes(input, lossless, options)
  const { before, after } = found.notes
  return {
    content: trimmed.content,
    layer: lossless.layer,
    format: trimmedFormat(trimmed.format),
    tokens: trimmed.tokens,
    hints: [...before, ...after, { family: 'elision', text: trimmed.marker }],
    elided: [elidedBy(trimmed, Math.min(lossless.tokens, prices.baseline) - trimmed.tokens)],
    keep: [trimmed.original],
    trimmed,
    ...lookAlikesIn(trimmed),
  }
}

/** Budgets that are tried for the fewest tokens of an answer. */
const MOST_TRIED = 8

/**
 * The fewest tokens that an answer takes: a budget at which there is one. The items of a chunk
 * depend on the budget, so what is short by a few tokens at one may be short by more at another.
 * @param first what was missing at the budget of the request
 */
function fewestTokens(
  first: number,
  lossless: number,
  trimAt: (budget: number) => ReturnType<ItemTrim>,
): number {
  let least = first
  for (let tried = 0; tried < MOST_TRIED && least < lossless; tried++) {
    const found = trimAt(least)
    if (!('minimum' in found)) return least
    if (found.minimum <= least) break
    least = found.minimum
  }
  return lossless
}

/** The number of look-alikes that were escaped in the rest. */
export function lookAlikesIn({
  lookAlikes,
}: Pick<Choice, 'lookAlikes'>): Pick<Choice, 'lookAlikes'> {
  return lookAlikes === undefined ? {} : { lookAlikes }
}

/** Parts of a content that is no list of items. */
function trimParts(
  input: LayerInput,
  budget: number,
  options: WithinOptions,
): ReturnType<ItemTrim> {
  const { notes } = options
  const noted = notes === NO_NOTES ? null : withinBudget(input, budget, options)
  if (noted !== null && !('minimum' in noted)) return { trimmed: noted, notes }
  const trimmed = withinBudget(input, budget, { ...options, notes: NO_NOTES })
  return 'minimum' in trimmed ? trimmed : { trimmed, notes: NO_NOTES }
}

/** The omission for the answer's list: the unit of which most is missing. */
export function elidedBy(
  { hash, omissions }: Pick<WithinBudget, 'hash' | 'omissions'>,
  tokens: number,
): FitOutcome['elided'][number] {
  const counts = new Map<string, number>()
  for (const { unit, omitted } of omissions) counts.set(unit, (counts.get(unit) ?? 0) + omitted)
  const [unit, count] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? ['parts', 0]
  return { hash, unit, count, tokens }
}

function tooSmall(budget: number, minimum: number, kind: string): AppError {
  return new AppError(
    'budget_too_small',
    `nothing ${kind} fits ${budget} tokens; the smallest takes ${minimum}`,
    { minimum_tokens: minimum },
  )
}

/**
 * Whether a result is an original that was retrieved: it is not elided again, or retrieving would
 * never end.
 * @param retrievingTools tools that return originals
 */
export function isRetrieved(
  { request: { mode, tool } }: LayerInput,
  retrievingTools: readonly string[],
): boolean {
  return mode === 'elide' && isRetrieving(tool, retrievingTools)
}

/** Factors by rank, so far apart that critical parts are left out last, wherever they are. */
const FACTORS: readonly number[] = [1, 8, 128]

/**
 * Values for a budget by what the content shows of its parts, if the request's mode is `elide`:
 * failures and stack traces before structure, structure before the rest. In a log the end has a
 * higher value, unless the request or the configuration names a strategy.
 */
function contentValuation(input: LayerInput, valuation: Valuation): Valuation {
  const { request, value, content } = input
  if (request.mode !== 'elide') return valuation
  if (typeof value === 'object' && value !== null) {
    const lists = rankLists(value)
    const firstItems = new Map([...lists].map(([list, ranks]) => [list, failedIn(ranks)] as const))
    return { ...valuation, firstItems, item: (list, index) => factorOf(lists.get(list)?.[index]) }
  }
  const ranked = rankText(content)
  const firstLines = failureLines(content, ranked)
  if (ranked === null) return { ...valuation, firstLines }
  const { ranks, kind } = ranked
  const isOpen = valuation.strategy === STRATEGIES.default && request.strategy === undefined
  const strategy = kind === 'log' && isOpen ? STRATEGIES.trailing : valuation.strategy
  return { ...valuation, strategy, firstLines, line: index => factorOf(ranks[index]) }
}

function failedIn(ranks: Uint8Array): readonly number[] {
  return [...ranks.keys()].filter(at => ranks[at] === CRITICAL)
}

function factorOf(rank: number | undefined = BULK): number {
  return FACTORS[rank] ?? FACTORS[CRITICAL]!
}
