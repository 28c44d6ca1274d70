import { hash } from 'node:crypto'
import { hostBlocks } from '../../formats/host-blocks.ts'
import { NONE_SENT } from '../../hints/policy.ts'
import type { Profile } from '../../pipeline/profile/resolve.ts'
import { namesFormat, type OpenLayer } from '../../pipeline/session-layer.ts'
import { shownOf } from '../../pipeline/shown-of.ts'
import { type SessionKey, sessionKey } from '../../sessions/index/session-index.ts'
import { argumentBodies } from '../../sessions/lines/argument-bodies.ts'
import { attachBodyMemory, type BodyMemory } from '../../sessions/lines/body-memory.ts'
import { createBodyMemory } from '../../sessions/lines/memory-layout.ts'
import { type ScannedText, scanText } from '../../sessions/lines/scan-text.ts'
import { NEAR_FORMAT } from '../../sessions/turn/decode-references.ts'
import { type DedupTerms, takesPart } from '../../sessions/turn/dedup-terms.ts'
import {
  noteFor,
  noteForArgument,
  noteForBlock,
  placeBody,
  textsInStrings,
} from '../../sessions/turn/earlier-results.ts'
import { lengthen, shortRef } from '../../sessions/turn/long-references.ts'
import { referToChanges } from '../../sessions/turn/refer-to-changes.ts'
import {
  type LinesOptions,
  referToLines,
  referToNear,
  referToSame,
} from '../../sessions/turn/refer-to-earlier.ts'
import {
  type HistoryResult,
  identityOf,
  lastWhole,
  nearEntries,
  type Passed,
  type WrittenResult,
} from './passed-results.ts'

/** The results of one request, of which later ones may repeat earlier ones. */
export interface History {
  /**
   * L0 for the next result against those before it, and how it is written then.
   * @param key names this one and all before it
   */
  open(key: string, result: HistoryResult): { readonly layer: OpenLayer; written(): WrittenResult }
  /** Goes on to the next result. */
  add(key: string, result: HistoryResult, written: WrittenResult): void
}

/** A thread's memory of some conversations, so that a turn only adds new results. */
export interface HistoryMemory {
  /** Begins a history. Layers of the history before must not be used any more. */
  begin(): History
}

/**
 * Bytes of results that are looked back at least; at most twice as many. Older results are not
 * referred to, so that the memory of a conversation is bounded.
 */
const WINDOW_BYTES = 512 * 1024
/** For one conversation: a window's results, and texts of arguments. */
const MEMORY_BYTES = 4 * 1024 * 1024
/** A memory has one conversation at a time, so one key is enough. */
const CONTEXT = sessionKey('', 'history')

/**
 * If calls and results do not alternate, a distance in calls differs from a distance in results.
 * Both are equal between results whose calls have the same number of unanswered calls before them.
 */
function contextOf(callsAhead: number): SessionKey {
  return callsAhead === 0 ? CONTEXT : sessionKey('', `history ${callsAhead}`)
}

/** A memory with the results of a window, all up to one of them. */
interface Filled {
  readonly bodies: BodyMemory
  /** The body that each short reference names: the first that had it. */
  readonly owners: Map<string, string>
  window: number
  /** How many results of the conversation were passed. */
  next: number
  /** The next result, if the arguments of its call were remembered already. */
  ahead: ResultName | null
}

/** Names a result by those up to it and by how those before it were written. */
interface ResultName {
  readonly key: string
  readonly sum: number
}

function isSame(a: ResultName | undefined, b: ResultName | null): boolean {
  return a !== undefined && b !== null && a.sum === b.sum && a.key === b.key
}

/**
 * Continues a sum over results as they were written (FNV-1a). The same results may have been
 * written in different ways.
 */
function sumOfWritten(before: number, { isSource, shown }: WrittenResult): number {
  if (!isSource) return Math.imul(before, PRIME) >>> 0
  const { found = 'none', inStrings = 'none', covered = [] } = shown ?? {}
  const words = [KINDS.indexOf(found), KINDS.indexOf(inStrings), ...covered]
  return words.reduce((sum, word) => Math.imul(sum ^ (word + 1), PRIME) >>> 0, before)
}

const KINDS = ['none', 'whole', 'lines']

const PRIME = 0x01000193
const BASIS = 0x811c9dc5

/**
 * Makes histories that refer only to what the request itself has, so every reader of the request
 * can follow the references. The text of a result depends only on the results before it. So a
 * memory is the same whether it was filled turn by turn or at once.
 * @param conversations that are remembered
 * @param bytes for each of them, 4 MiB if it is not given
 */
export function createHistoryMemory(conversations: number, bytes = MEMORY_BYTES): HistoryMemory {
  /** The one used last comes first. */
  const memories: Filled[] = []

  /** The memory that has most of these results and nothing else. Returns `null` if none has any. */
  function find(window: number, names: readonly ResultName[]): Filled | null {
    let most: Filled | null = null
    for (const memory of memories) {
      // With the arguments of another call, a result could refer to a text that the request does
      // not have.
      const isOfThese = memory.window === window && isSame(names[memory.next], memory.ahead)
      if (isOfThese && (most === null || memory.next > most.next)) most = memory
    }
    return most
  }

  function blank(window: number, next: number): Filled {
    const oldest = memories.length < conversations ? undefined : memories.pop()
    oldest?.bodies.clear()
    const bodies = oldest?.bodies ?? attachBodyMemory(createBodyMemory({ bytes }))
    const memory = { bodies, owners: new Map(), window, next, ahead: null }
    memories.push(memory)
    return memory
  }

  return {
    begin: () =>
      createHistory((window, first, names) => {
        const memory = find(window, names) ?? blank(window, first)
        memories.splice(memories.indexOf(memory), 1)
        memories.unshift(memory)
        return memory
      }),
  }
}

/**
 * Finds a memory to continue with, or an empty one.
 * @param first the first result of the window, as an index
 * @param names of all results up to the one that comes now
 */
type TakeMemory = (window: number, first: number, names: readonly ResultName[]) => Filled

function createHistory(take: TakeMemory): History {
  const passed: Passed[] = []
  const names: ResultName[] = []
  let bytes = 0
  let sum = BASIS
  let filled: Filled | null = null

  /** Returns a memory that has the window before a result, and the arguments of its call. */
  function fillFor(key: string, result: HistoryResult): BodyMemory {
    const window = Math.floor(bytes / WINDOW_BYTES)
    if (filled === null || filled.window !== window) {
      const first = passed.findIndex(({ end }) => end > (window - 1) * WINDOW_BYTES)
      filled = take(window, first === -1 ? passed.length : first, [...names, nameOf(key)])
    }
    const { bodies } = filled
    for (; filled.next < passed.length; filled.next++) {
      const each = passed[filled.next]!
      give(filled, each.result, filled.next, names[filled.next]!)
      remember(filled, each)
    }
    give(filled, result, passed.length, nameOf(key))
    return bodies
  }

  /**
   * Remembers the arguments of a call only once. Twice would change the order in which texts are
   * forgotten.
   */
  function give(to: Filled, result: HistoryResult, index: number, name: ResultName): void {
    if (!isSame(name, to.ahead) && result.firstOfCall === index) rememberArguments(to, result)
    to.ahead = name
  }

  const nameOf = (key: string): ResultName => ({ key, sum })

  return {
    open(key, result) {
      let written: WrittenResult = { isSource: false }
      return {
        written: () => written,
        layer: (_op, { content, prices, request }, profile, { maxDecodedChars }) => {
          const dedup = inRequest(profile.dedup)
          const { callsAhead } = result
          if (callsAhead === undefined || !isKept(content, request, profile)) return null
          const bodies = fillFor(key, result)
          const context = contextOf(callsAhead)
          let scanned: ScannedText | null | undefined
          const scan = () => {
            if (scanned === undefined) scanned = scanText(content, context)
            return scanned
          }
          const turn = { sequence: sequenceOf(result) }
          const here = { session: '', context, turn, scan }
          const { counter, baseline } = prices
          const namesNear = namesFormat(request.formats, NEAR_FORMAT)
          const fixed = { bodies, dedup, counter, baseline, maxBytes: maxDecodedChars, namesNear }
          const options = (gate: LinesOptions['gate']): LinesOptions => ({ ...fixed, gate })
          return {
            partition: 0,
            ref: undefined,
            past: () => null,
            ...NONE_SENT,
            lastFormat: () => undefined,
            searchesBefore: () => 0,
            toResult(gate) {
              const identity = identityOf(content)
              const same = dedup.exact ? referToSame(identity, here, options(gate)) : null
              const entries = () => nearEntries(passed, result, content, dedup)
              return same ?? referToNear(content, entries, here, options(gate))
            },
            toChanges(gate) {
              const base = dedup.near ? lastWhole(passed, result, dedup) : undefined
              if (base === undefined) return null
              return referToChanges(content, identityOf(base.text()), here, options(gate))
            },
            toLines: gate => referToLines(content, here, options(gate)),
            deliver(delivery, referral) {
              const shown = shownOf(delivery, content, referral, here)
              // Only the lines of a lossy answer that are there may be referred to.
              const isThere = delivery.lossless || shown.found !== undefined
              const isSource = isThere && referral?.kind !== 'exact'
              written = isSource ? { isSource, shown } : { isSource }
              return []
            },
          }
        },
      }
    },
    add(key, result, written) {
      bytes += result.end - result.start
      passed.push({ result, written, end: bytes })
      names.push(nameOf(key))
      sum = sumOfWritten(sum, written)
    },
  }
}

/**
 * A reader of the request has nothing else. So each reference names its call, and none says that
 * the service has the text.
 */
function inRequest(dedup: DedupTerms): DedupTerms {
  return { ...dedup, verbosity: 'standard' }
}

function remember(to: Filled, { result, written }: Passed): void {
  const { callsAhead, isWhole, part } = result
  if (!written.isSource || callsAhead === undefined) return
  const context = contextOf(callsAhead)
  const text = scanText(result.text(), context)
  const call = { tool: result.tool, args: result.args() }
  const { shown = {} } = written
  const place = { sequence: sequenceOf(result), ...shown }
  const note = noteFor(call, isWhole ? place : { ...place, part: part + 1 })
  if (text !== null && note !== null) put(to, context, text, note)
  // Whether they may be referred to is a question of the result that comes again.
  const blocks =
    shown.found === 'lines' && shown.covered === undefined && result.tool !== undefined
      ? hostBlocks(result.text())
      : []
  for (const block of blocks) {
    const scanned = scanText(block.text, context)
    const named = noteForBlock(result.tool!, block.name, place.sequence)
    if (scanned !== null) put(to, context, scanned, named)
  }
  if (result.tool === undefined) return
  const whole = { tool: result.tool, content: result.text() }
  for (const { text: inner, note: named } of textsInStrings(whole, shown, place.sequence)) {
    const scanned = scanText(inner, context)
    if (scanned !== null) put(to, context, scanned, named)
  }
}

/** Texts that the agent gave to the tool; the call's own result may refer to them. */
function rememberArguments(to: Filled, result: HistoryResult): void {
  const { tool, callsAhead } = result
  if (tool === undefined || callsAhead === undefined) return
  const context = contextOf(callsAhead)
  for (const { name, text } of argumentBodies(result.args())) {
    const scanned = scanText(text, context)
    if (scanned === null) continue
    put(to, context, scanned, noteForArgument(tool, name, sequenceOf(result)))
  }
}

function put(
  { bodies, owners }: Filled,
  context: SessionKey,
  text: ScannedText,
  note: string,
): void {
  const identity = hash('sha256', text.bytes, 'hex')
  const ref = shortRef(identity)
  const owner = owners.get(ref) ?? identity
  owners.set(ref, owner)
  // If two bodies have the same first digits, the later one has a longer reference.
  if (owner !== identity) lengthen(bodies, context, identity)
  const position = placeBody(bodies, text, context, { identity, note })
  if (position !== null) bodies.confirm(position)
}

/** Calls are counted from 1. */
function sequenceOf({ ordinal }: HistoryResult): number {
  return ordinal + 1
}

/** Whether a result takes part in references. */
function isKept(
  content: string,
  { is_error }: { readonly is_error?: boolean | undefined },
  { dedup }: Profile,
): boolean {
  const isLong = content.length >= dedup.minBodyChars
  return takesPart(dedup) && is_error !== true && isLong && content.isWellFormed()
}
