import { AppError } from '../base/errors.ts'
import type { EncodeAnswer, EncodeRequest } from '../contract/encode.ts'
import type { Document, Pruned } from '../reduce/budget/document.ts'
import type { Valuation } from '../reduce/budget/strategies.ts'
import {
  chunkIndexes,
  chunkItems,
  type Division,
  rangesOf,
  runOf,
} from '../reduce/trim/chunk-index.ts'
import { jsonItems } from '../reduce/trim/json-document.ts'
import { textItems } from '../reduce/trim/text-document.ts'
import type { TrimAlgorithm } from '../solvers/tree/trim-tree.ts'
import type { LayerInput } from './layer.ts'
import { NO_NOTES, type Notes } from './notes.ts'
import { type WithinBudget, type WithinOptions, withinBudget } from './within-budget.ts'

/** The written text may have so many times fewer tokens than its price. */
const MOST_SHORTER = 3

/** Chunks as an answer has them. */
export type SentChunks = NonNullable<EncodeAnswer['chunks']>

/** The choice from a list of items. */
export interface TrimmedItems extends WithinBudget {
  readonly chunks?: SentChunks
}

/** Trims one content by its items. */
export type ItemTrim = (
  options: Pick<WithinOptions, 'writeMarker' | 'choose' | 'notes' | 'sent'>,
) => { readonly trimmed: TrimmedItems; readonly notes: Notes } | { readonly minimum: number }

interface ItemTrimOptions {
  readonly valuation: Valuation
  readonly algorithm: TrimAlgorithm | 'auto'
  /** Tokens of the smallest lossless text. */
  readonly lossless: number
}

/** Whether a request asks for a part of the items by number, or for less of each. */
export function selectsItems({ level, chunk = 1, offset, limit }: EncodeRequest): boolean {
  const isBelow = level !== undefined && level !== 'full'
  return isBelow || chunk > 1 || offset !== undefined || limit !== undefined
}

/**
 * How a content is trimmed by its items: a tree of parts chooses which of them leave, and how much
 * of each (docs/reference/budget.md); the rest is in the chunks that follow.
 * @returns `null` if the content is no list of items
 * @throws AppError `invalid_request` for items or a chunk that do not exist
 */
export function itemTrim(
  input: LayerInput,
  budget: number,
  { valuation, algorithm, lossless }: ItemTrimOptions,
): ItemTrim | null {
  const { request, prices, value } = input
  const found =
    typeof value === 'object' && value !== null
      ? jsonItems(value, prices.counter, valuation, { algorithm })
      : textItems(input, prices.counter, valuation, { budget, algorithm })
  if (found === null) {
    checkWhole(request)
    return null
  }
  const document = found
  const { list } = document
  const total = list.tokens.length
  const { level = 'full', chunk = 1 } = request
  // The document's prices are near those of its text; scaled to its size they are nearer.
  const priced = list.tokens.reduce((sum, tokens) => sum + tokens, 0)
  const room = (budget * priced) / Math.max(lossless, 1)

  const divide = (first: readonly number[], returned: number): Division => ({
    list,
    chunks: chunkItems(list.tokens, first, Math.min(room, MOST_SHORTER * budget)),
    returned,
  })

  /** Some items by number. If possible, each is at least named. */
  function some(items: readonly number[], options: WithinOptions) {
    const scope = { level, items }
    const all = fitPart(document.scoped({ ...scope, required: true }), options)
    return 'minimum' in all ? fitPart(document.scoped(scope), options) : all
  }

  function fitPart(part: Document, options: WithinOptions) {
    return withinBudget(input, budget, { ...options, document: part })
  }

  return given => {
    const { writeMarker, choose, notes, sent = notes } = given
    const options = { writeMarker, choose, valuation, notes: NO_NOTES }
    const { offset, limit } = request
    if (offset !== undefined || limit !== undefined) {
      const found = some(itemsFrom(offset ?? 0, limit, total), options)
      return 'minimum' in found ? found : { trimmed: found, notes: NO_NOTES }
    }
    const beside = (pruned: Pruned) => indexOf(divide(pruned.items ?? [], 0))
    const whole = document.scoped({ level })
    const first = firstOf(
      [{ ...options, notes, sent, beside }, { ...options, beside }, options],
      tried => fitPart(whole, tried),
    )
    if ('minimum' in first) return first
    const division = divide(first.fitted.pruned.items ?? [], 0)
    if (chunk === 1) {
      const trimmed = { ...first.fitted, chunks: sentChunks(division) }
      return { trimmed, notes: first.options.sent ?? NO_NOTES }
    }
    const items = division.chunks[chunk - 1]
    if (items === undefined) throw invalid('chunk', chunksAre(division.chunks.length))
    const own = { ...division, returned: chunk - 1 }
    const found = some(items, { ...options, beside: () => indexOf(own) })
    if ('minimum' in found) return found
    return { trimmed: { ...found, chunks: sentChunks(own) }, notes: NO_NOTES }
  }
}

/** The first form that fits. If none fits, the tokens of the last one. */
function firstOf(
  ways: readonly WithinOptions[],
  write: (options: WithinOptions) => WithinBudget | { readonly minimum: number },
): { fitted: WithinBudget; options: WithinOptions } | { readonly minimum: number } {
  let least = { minimum: Infinity }
  for (const options of ways) {
    const fitted = write(options)
    if (!('minimum' in fitted)) return { fitted, options }
    least = fitted
  }
  return least
}

/** The chunk index beside a text, the fullest form first, and the next chunk for its marker. */
function indexOf(
  division: Division,
): NonNullable<ReturnType<NonNullable<WithinOptions['beside']>>> {
  const { chunks, returned } = division
  const chunk = returned + 2
  return {
    lines: chunks.length > 1 ? chunkIndexes(division) : [],
    ...(chunk <= chunks.length ? { next: { chunk, of: chunks.length } } : {}),
  }
}

function sentChunks({ list, chunks, returned }: Division): SentChunks {
  return chunks.map((items, at) => ({
    chunk: at + 1,
    count: items.length,
    ...runOf(items),
    items: rangesOf(items),
    tokens: Math.ceil(items.reduce((sum, item) => sum + list.tokens[item]!, 0)),
    summary: items.length === 0 ? '' : list.summarize(items),
    returned: at === returned,
  }))
}

/** @throws AppError if there is no such item */
function itemsFrom(offset: number, limit = Infinity, total: number): readonly number[] {
  if (offset >= total) throw invalid('offset', `there are ${total} items, counted from 0`)
  const count = Math.min(limit, total - offset)
  return Array.from({ length: count }, (_, index) => offset + index)
}

/** A content that is not a list of items, or is sent as a whole, is one chunk. */
export function checkWhole({ chunk = 1, offset, limit }: EncodeRequest): void {
  if (chunk > 1) throw invalid('chunk', chunksAre(1))
  const path = offset === undefined ? 'limit' : 'offset'
  if ((offset ?? limit) !== undefined) throw invalid(path, 'the content is no list of items')
}

function chunksAre(count: number): string {
  return count === 1 ? 'there is 1 chunk' : `there are ${count} chunks`
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}
