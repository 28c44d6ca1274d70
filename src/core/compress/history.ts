import { hash } from 'node:crypto'
import { sessionKey } from '../dedup/index/session-key.ts'
import { argumentBodies } from '../dedup/lines/argument-bodies.ts'
import { attachBodyMemory } from '../dedup/lines/body-memory.ts'
import { createBodyMemory } from '../dedup/lines/memory-layout.ts'
import { type ScannedText, scanText } from '../dedup/lines/scan-text.ts'
import { noteFor, noteForArgument } from '../dedup/session/earlier-results.ts'
import { type LinesOptions, referToLines, referToSame } from '../dedup/session/refer-to-earlier.ts'
import type { ToolResultText } from '../messages/tool-result-text.ts'
import { hopsInto, type OpenLayer } from '../pipeline/session-layer.ts'
import { takesPart } from '../profile/dedup-profile.ts'
import type { Profile } from '../profile/resolve.ts'

/** How a result of the history was written, as far as later ones need to know. */
export interface WrittenResult {
  /** References that a reader follows to its lines; absent where they cannot be found. */
  readonly hops?: number
  /** Whether later results may refer to it. */
  readonly isSource: boolean
}

/** The results of one request, of which later ones may repeat earlier ones. */
export interface History {
  /**
   * L0 against the results before this one, and how the result is written then.
   * @param result the next in the conversation
   */
  open(result: ToolResultText): { readonly layer: OpenLayer; written(): WrittenResult }
  /** Goes on to the next result. */
  add(result: ToolResultText, written: WrittenResult): void
}

/** A memory for one history after another; of one thread. */
export interface HistoryMemory {
  /** The history before was the last one's; its layers must not be used any more. */
  begin(): History
}

/**
 * Bytes of results that are looked back at least; at most twice as many. What is further back is not referred to: each
 * request with a new result reads them once more.
 */
const WINDOW_BYTES = 64 * 1024
const MEMORY_BYTES = 4 * 1024 * 1024
/** One history at a time: its lines need not be apart from others'. */
const CONTEXT = sessionKey('', 'history')

/** Histories that refer to nothing but what the request itself holds, so that whoever has that can follow. */
export function createHistoryMemory(): HistoryMemory {
  const bodies = attachBodyMemory(createBodyMemory({ bytes: MEMORY_BYTES }))
  return { begin: () => createHistory(bodies) }
}

function createHistory(bodies: ReturnType<typeof attachBodyMemory>): History {
  /** Results that were passed, with the bytes of all results up to their end. */
  const passed: {
    readonly result: ToolResultText
    readonly written: WrittenResult
    readonly end: number
  }[] = []
  let bytes = 0
  /** Which window the memory is filled for, and how many of `passed` it has. */
  let filled = { window: -1, next: 0 }

  /** Makes the memory hold what lies in the window before the next result. */
  function fill(): void {
    const window = Math.floor(bytes / WINDOW_BYTES)
    if (window !== filled.window) {
      bodies.clear()
      const first = passed.findIndex(({ end }) => end > (window - 1) * WINDOW_BYTES)
      filled = { window, next: first === -1 ? passed.length : first }
    }
    for (; filled.next < passed.length; filled.next++) remember(passed[filled.next]!)
  }

  function remember({ result, written }: (typeof passed)[number]): void {
    rememberArguments(result)
    if (!written.isSource) return
    const text = scanText(result.text(), CONTEXT)
    const call = { tool: result.tool, args: result.args() }
    const note = noteFor(call, sequenceOf(result), written.hops)
    if (text !== null && note !== null) put(text, note)
  }

  /** Texts that the agent gave to the tool; the call's own result may refer to them. */
  function rememberArguments(result: ToolResultText): void {
    const { tool } = result
    if (tool === undefined || result.part > 0) return
    for (const { name, text } of argumentBodies(result.args())) {
      const scanned = scanText(text, CONTEXT)
      if (scanned !== null) put(scanned, noteForArgument(tool, name, sequenceOf(result)))
    }
  }

  function put(text: ScannedText, note: string): void {
    const identity = hash('sha256', text.bytes, 'hex')
    const position = bodies.place(text, CONTEXT, identity, note)
    if (position !== null) bodies.confirm(position)
  }

  return {
    open(result) {
      let written: WrittenResult = { isSource: false }
      return {
        written: () => written,
        layer: (_op, { content, prices, request }, profile, { maxDecodedChars }) => {
          const { dedup } = profile
          if (!isKept(content, request, profile)) return null
          fill()
          rememberArguments(result)
          let scanned: ScannedText | null | undefined
          const scan = () => {
            if (scanned === undefined) scanned = scanText(content, CONTEXT)
            return scanned
          }
          const turn = { sequence: sequenceOf(result) }
          const here = { session: '', context: CONTEXT, turn, scan }
          const { counter, baseline } = prices
          const fixed = { bodies, dedup, counter, baseline, maxBytes: maxDecodedChars }
          const options = (gate: LinesOptions['gate']): LinesOptions => ({ ...fixed, gate })
          return {
            partition: 0,
            ref: undefined,
            past: () => null,
            sentInSession: () => 0,
            toResult(gate) {
              const identity = hash('sha256', Buffer.from(content, 'utf8'), 'hex')
              return dedup.exact ? referToSame(identity, here, options(gate)) : null
            },
            toLines: gate => referToLines(content, here, options(gate)),
            deliver({ format, lossless }, referral) {
              const hops = hopsInto(format, referral, bodies, CONTEXT)
              const isSource = lossless && referral?.kind !== 'exact'
              written = { isSource, ...(hops === undefined ? {} : { hops }) }
              return []
            },
          }
        },
      }
    },
    add(result, written) {
      bytes += result.end - result.start
      passed.push({ result, written, end: bytes })
    },
  }
}

/** Calls are counted from 1. */
function sequenceOf({ ordinal }: ToolResultText): number {
  return ordinal + 1
}

/**
 * Whether a result takes part in references. Where hints do not name calls, nobody without the service could follow them.
 */
function isKept(
  content: string,
  { is_error }: { readonly is_error?: boolean | undefined },
  { dedup, hints }: Profile,
): boolean {
  const isNamed = dedup.verbosity !== 'terse' && hints.default_verbosity !== 'terse'
  const isLong = content.length >= dedup.minBodyChars
  return isNamed && takesPart(dedup) && is_error !== true && isLong && content.isWellFormed()
}
