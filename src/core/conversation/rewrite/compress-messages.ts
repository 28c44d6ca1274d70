import { hash } from 'node:crypto'
import type { CompressRequest } from '../../contract/compress.ts'
import { letsForget } from '../../dialects/forgetting/lets-forget.ts'
import { findLookAlikes } from '../../hints/look-alikes.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import type { OpenLayer } from '../../pipeline/session-layer.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import { argsOf, type MessageText, mapTexts, type ResultAt } from './message-texts.ts'
import type { HistoryResult } from './passed-results.ts'
import type { ConversationContext } from './rewrite-context.ts'
import {
  type Counting,
  escapeOnly,
  type Rewritten,
  rewriteAtLevel,
  rewriteLossless,
  rewriteWithin,
} from './rewrite-text.ts'
import { createSentNotes, noteOf, type SentNote } from './sent-notes.ts'

/**
 * A text payload of the conversation: its tokens, and its replacement; `null` if it stays
 * unchanged.
 */
export interface Payload {
  readonly source: MessageText
  readonly tokens: number
  readonly rewritten: Rewritten | null
}

/** A conversation with smaller texts. */
export interface Compressed {
  readonly messages: unknown[]
  readonly payloads: readonly Payload[]
}

/**
 * Rewrites the texts of a conversation without loss: tool results, and the texts of those roles
 * that the request names. If there is a budget and the client can retrieve originals, tool results
 * are then cut to fit, except for errors. If the client sends whole conversations, results may
 * refer to earlier ones, but not with a budget, which could cut these.
 * @throws AppError `invalid_request` for an unknown tokenizer
 */
export function compressMessages(
  request: CompressRequest,
  context: ConversationContext,
): Compressed {
  const { messages, token_budget: budget } = request
  const { redeems = false, bypass = false } = context.terms ?? {}
  const wish = request.response_budget ?? context.terms?.responseBudget
  const mayElide = redeems && context.keepsOriginals
  const counting = countingOf(request)
  const counter = context.counters.get(resolveTokenizer(counting))
  const { pipeline = DEFAULT_PIPELINE } = context
  const { redeem_tools: retrievingTools } = pipeline.elision
  const hasPressure = pipeline.views.pressure.length > 0
  const mayRefer = request.config?.references ?? context.terms?.references ?? false
  const isFixed = !bypass && typeof budget !== 'number'
  const results = mayRefer && isFixed && !forgets(request) ? earlierResults(request, context) : null
  let notes = createSentNotes()
  let walls = 0
  let before = 0
  const { texts, callsAhead } = textsOf(messages)
  const payloads = texts.map((source, index): Payload => {
    if (hasPressure) {
      for (const call of callsAhead[index]!) before += counter.count(call())
    }
    const write = bypass ? null : writerOf(source, request, retrievingTools)
    const turn = results?.next(source, write === rewriteLossless)
    if (write === null) {
      turn?.end()
      const tokens = counter.count(source.text)
      before += tokens
      return { source, tokens, rewritten: null }
    }
    const { walls: wallsBefore = walls } = source.result ?? {}
    if (wallsBefore !== walls) notes = createSentNotes()
    walls = wallsBefore
    const called = { tool: source.call.tool, args: () => argsOf(source.call) }
    const openLayer = notes.layer(called, turn?.layer)
    const mayLeaveOut = mayElide && isCut(source, retrievingTools)
    const rewritten =
      mayLeaveOut && (wish !== undefined || hasPressure)
        ? rewriteAtLevel(source, { wish, contextTokens: before }, counting, context, openLayer)
        : write(source, counting, context, openLayer)
    const note = noteOf(rewritten.answer)
    notes.add(called, note)
    turn?.end(note)
    before += rewritten.answer.tokens.final
    return { source, tokens: rewritten.answer.tokens.baseline, rewritten }
  })
  const fitted =
    typeof budget === 'number' && mayElide
      ? fitBudget(payloads, budget, retrievingTools, (payload, lossless, tokens) =>
          rewriteWithin(payload.source, lossless, tokens, counting, context),
        )
      : payloads
  let next = 0
  const written = mapTexts(
    messages,
    ({ text }) => fitted[next++]?.rewritten?.answer.content ?? text,
  )
  return { messages: written, payloads: fitted }
}

/** Whether the request that the messages are for lets the provider leave out earlier results. */
function forgets(request: CompressRequest): boolean {
  return Object.entries(request).some(([key, value]) => letsForget(key, value))
}

function countingOf({ tokenizer, model }: CompressRequest): Counting {
  return {
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(typeof model === 'string' ? { model } : {}),
  }
}

/** The texts of the messages, and for each the calls since the text before it. */
function textsOf(messages: readonly unknown[]) {
  const texts: MessageText[] = []
  const callsAhead: (() => string)[][] = []
  let calls: (() => string)[] = []
  mapTexts(
    messages,
    source => {
      texts.push(source)
      callsAhead.push(calls)
      calls = []
      return source.text
    },
    (name, args) => {
      const text = () => (typeof args === 'string' ? args : (JSON.stringify(args) ?? ''))
      calls.push(() => `${typeof name === 'string' ? name : ''} ${text()}`)
    },
  )
  return { texts, callsAhead }
}

/** The writer of a text; `null` if the text stays unchanged. */
function writerOf(
  { from, call, text }: MessageText,
  { config }: CompressRequest,
  retrievingTools: readonly string[],
): typeof rewriteLossless | null {
  if (from === 'user') return config?.compress_user_messages === true ? rewriteLossless : null
  if (from === 'system') return config?.compress_system_messages === true ? rewriteLossless : null
  if (from !== 'tool') return null
  if (!isRetrieving(call.tool, retrievingTools)) return rewriteLossless
  return findLookAlikes(text).length > 0 ? escapeOnly : null
}

/** The payloads with tool results cut so that all payloads fit, as far as that goes. */
function fitBudget(
  payloads: readonly Payload[],
  budget: number,
  retrievingTools: readonly string[],
  cut: (payload: Payload, lossless: Rewritten, tokens: number) => Rewritten,
): readonly Payload[] {
  const fitted = [...payloads]
  const places = payloads.flatMap(({ source, rewritten }, index) =>
    rewritten !== null && isCut(source, retrievingTools) ? [{ index, rewritten }] : [],
  )
  const sizes = places.map(({ rewritten }) => rewritten.answer.tokens.final)
  const others = tokensAfter(payloads) - sizes.reduce((sum, size) => sum + size, 0)
  cutToFit(sizes, budget - others, (place, tokens) => {
    const { index, rewritten: lossless } = places[place]!
    const payload = payloads[index]!
    const rewritten = cut(payload, lossless, tokens)
    fitted[index] = { ...payload, rewritten }
    return rewritten.answer.tokens.final
  })
  return fitted
}

/** Whether parts of a text may be left out. */
function isCut({ from, call, isError }: MessageText, retrievingTools: readonly string[]): boolean {
  return from === 'tool' && !isError && !isRetrieving(call.tool, retrievingTools)
}

/** Tokens of all payloads as they are written. */
export function tokensAfter(payloads: readonly Payload[]): number {
  return payloads.reduce(
    (sum, { tokens, rewritten }) => sum + (rewritten?.answer.tokens.final ?? tokens),
    0,
  )
}

/**
 * Decides how many tokens each text may have so that all fit. All get the same allowance, and what
 * a text does not need goes to the others: the highest level with `Σ min(size, level) ≤ room`
 * (max-min fairness; Bertsekas and Gallager, "Data Networks", 6.5.2). So small texts stay whole,
 * and only the largest are cut.
 * @param sizes tokens of each text
 * @returns the level, a whole number; `Infinity` if all fit
 */
export function fairLevel(sizes: readonly number[], room: number): number {
  const ascending = Float64Array.from(sizes).sort()
  let left = room
  for (const [index, size] of ascending.entries()) {
    const level = Math.floor(left / (ascending.length - index))
    if (size > level) return Math.max(0, level)
    left -= size
  }
  return Number.POSITIVE_INFINITY
}

/**
 * Cuts texts to their allowances from the first to the last. If a text leaves some of its
 * allowance, or cannot be cut so far, the difference goes to the allowance of the next text that is
 * too large. So the last texts keep most.
 * @param sizes tokens of each text
 * @param cut cuts the text at an index to so many tokens, and returns the tokens that it has then
 */
export function cutToFit(
  sizes: readonly number[],
  room: number,
  cut: (index: number, tokens: number) => number,
): void {
  const level = fairLevel(sizes, room)
  if (level === Number.POSITIVE_INFINITY) return
  const planned = sizes.reduce((sum, size) => sum + Math.min(size, level), 0)
  let spare = room - planned
  for (const [index, size] of sizes.entries()) {
    if (size <= level) continue
    const allowance = Math.max(0, level + spare)
    if (size > allowance) spare += level - cut(index, allowance)
    else spare += level - size
  }
}

/** A text of the conversation, until its replacement is known. */
interface OpenText {
  /** Its references to earlier results; absent: it has none. */
  readonly layer?: OpenLayer
  /** Notes how it was written, for those after it. */
  end(note?: SentNote): void
}

/** The texts of a conversation, in their order. */
interface EarlierResults {
  /** @param mayRefer whether it may refer, and be referred to */
  next(source: MessageText, mayRefer: boolean): OpenText
}

const NOT_SOURCE = { isSource: false }
const NOTHING: OpenText = { end: () => {} }

/**
 * The tool results of messages, of which later ones may repeat earlier ones. A reference depends
 * only on what is before it, so a conversation that continues is written as before. Returns `null`
 * if the thread has no memory for it.
 */
function earlierResults(
  { model, tokenizer }: CompressRequest,
  { rewrites }: ConversationContext,
): EarlierResults | null {
  const begin = () => rewrites?.history?.begin()
  let history = begin()
  if (history === undefined) return null
  let walls = 0
  let index = 0
  let key = digest(JSON.stringify(['compress', rewrites!.tenant, model, tokenizer]))
  return {
    next(source, mayRefer) {
      const result = resultOf(source)
      if (result === null) return NOTHING
      // Arguments may be most of the messages, and have many results: once is enough.
      const args = result.firstOfCall === index++ ? result.args() : undefined
      key = digest(`${key}${nameOf(source, result, args)}`)
      const name = key
      // After a compaction the model has nothing of what came before it.
      if (result.walls !== walls) history = begin()!
      walls = result.walls
      const { open, add } = history!
      const turn = mayRefer ? open(name, result) : null
      return {
        ...(turn === null ? {} : { layer: turn.layer }),
        end: note => add(name, result, { ...(turn?.written() ?? NOT_SOURCE), ...note }),
      }
    },
  }
}

function digest(text: string): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'hex')
}

/** A result of the conversation, with the compactions before it. */
type PlacedResult = HistoryResult & ResultAt

/** Everything that what replaces a result may depend on. */
function nameOf({ isError, text }: MessageText, result: PlacedResult, args: unknown): string {
  const { tool, ordinal, part, isWhole, callsAhead = null, firstOfCall, walls } = result
  const fields = [tool, isError, ordinal, part, isWhole, callsAhead, firstOfCall, args, walls]
  return `${JSON.stringify(fields)} ${text}`
}

function resultOf({ text, call, result }: MessageText): PlacedResult | null {
  if (result === undefined) return null
  const args = () => argsOf(call)
  return { ...result, start: 0, end: text.length, text: () => text, tool: call.tool, args }
}
