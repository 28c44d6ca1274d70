import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import type { PipelineConfig } from '../../pipeline/profile/pipeline-config.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { argumentLines, linesIn } from './quoted-lines.ts'

/** Bytes that a stub takes, about, and those of a result that is worth one. */
const STUB_BYTES = 120
const LEAST_BYTES = 512
/** Bytes of a token, about. */
const TOKEN_BYTES = 4

/**
 * How often reading must have cost the price of a step before it is taken. With 1, a conversation
 * never costs more than twice the least. But of 72 recorded conversations ten ended before a step
 * had paid with 2, and one with 4.
 */
const PATIENCE = 4

/** Results before a step whose calls are looked at for quotes. */
const MOST_RECENT = 32

/** What Claude Code sends in place of a result that it cleared itself. */
const CLEARED_BY_CLIENT = '[Old tool result content cleared]'

/** A result of the conversation, as it is sent. */
interface Passed {
  readonly result: ToolResultText
  /** Bytes of its literal. */
  readonly sent: number
  /** Bytes by which it and those before it are shorter than in the body. */
  readonly shorter: number
  readonly mayGo: boolean
}

/** When old results leave a conversation. */
export interface ClearingPlan {
  /** Notes a result that is sent with a literal of so many bytes. */
  pass(result: ToolResultText, sent: number): void
  /** Comes to the next result; the turn before is paid for. */
  reach(result: ToolResultText): void
  /** The results that go before the one that was reached, by index; none if no step pays now. */
  due(): readonly number[]
  /** Whether any may go. */
  mayClear(): boolean
  /** Those that go after the last one if nothing before it is cached, so that a step is free. */
  dueIfCold(): readonly number[]
  /** These results go. */
  clear(indexes: readonly number[]): void
}

/**
 * Decides like one who rents until the rent has reached the price of buying. The rent is what
 * reading the results that may go has cost in the turns since the last step. The price is what
 * writing the rest into the cache again costs. So a step never costs
 * more than what waiting for it has cost already. Everything depends on the results before alone.
 */
export function createClearingPlan(
  { clearing, dedup, elision }: Pick<PipelineConfig, 'clearing' | 'dedup' | 'elision'>,
  start: number,
): ClearingPlan {
  const { keep_newest: newest, keep_at_pauses: newestAtPauses } = clearing
  const { cached_read: read, cache_write: write } = clearing
  const leastBytes = Math.max(LEAST_BYTES, clearing.least_tokens * TOKEN_BYTES)
  const passed: Passed[] = []
  /** Results that are old enough, and how far they were looked at. */
  let waiting: number[] = []
  let waitingBytes = 0
  const cleared = new Set<number>()
  let looked = 0
  /** The newest result that has a line, and how many results were read for it. */
  const byLine = new Map<string, number>()
  let indexed = 0
  /** The lines of edits, by their arguments. */
  const linesOf = new Map<unknown, ReadonlySet<string>>()
  let rent = 0
  let reached: ToolResultText | undefined
  let isClientClearing = false

  const bytesOf = (indexes: readonly number[]) =>
    indexes.reduce((sum, index) => sum + passed[index]!.sent - STUB_BYTES, 0)

  /**
   * The price of a step that takes so many bytes away, beyond reading what it writes. Providers
   * look for a cached prefix only a few messages before a breakpoint, so all messages are written.
   */
  function priceOf(bytes: number): number {
    const sent = reached!.start - start - passed.at(-1)!.shorter
    return PATIENCE * (sent - bytes) * (write - read)
  }

  /** Those that may go, the newest of those that were passed counted. */
  function oldOnes(): readonly number[] {
    const old = passed.slice(0, Math.max(0, passed.length - newestAtPauses))
    if (isClientClearing) return []
    return [...old.keys()].filter(index => old[index]!.mayGo && !cleared.has(index))
  }

  function mayGo(result: ToolResultText, sent: number): boolean {
    const { tool, isError } = result
    const stays = isRetrieving(tool, elision.redeem_tools) || isRetrieving(tool, clearing.exclude)
    return sent >= leastBytes && tool !== undefined && !isError && !stays
  }

  /** Arguments may be most of the body, and have many results. */
  function editedLines(args: unknown): ReadonlySet<string> {
    const known = linesOf.get(args) ?? argumentLines(args)
    linesOf.set(args, known)
    return known
  }

  /** Without those whose lines recent edits quote. Of equal lines, the newest result is meant. */
  function unquoted(indexes: readonly number[]): readonly number[] {
    const end = Math.max(looked, (indexes.at(-1) ?? -1) + 1)
    for (; indexed < end; indexed++) {
      const { result, mayGo: isOne } = passed[indexed]!
      if (isOne) for (const line of linesIn(result.text())) byLine.set(line, indexed)
    }
    const near = passed.slice(-Math.min(newest, MOST_RECENT)).map(({ result }) => result)
    const edits = [...near, ...(reached ? [reached] : [])].filter(({ tool }) =>
      isRetrieving(tool, dedup.mutating_tools),
    )
    const quoted = new Set<number>()
    for (const args of new Set(edits.map(each => each.args()))) {
      for (const line of editedLines(args)) {
        const index = byLine.get(line)
        if (index !== undefined) quoted.add(index)
      }
    }
    return indexes.filter(index => !quoted.has(index))
  }

  return {
    pass(result, sent) {
      const shorter = (passed.at(-1)?.shorter ?? 0) + result.end - result.start - sent
      passed.push({ result, sent, shorter, mayGo: mayGo(result, sent) })
      const isShort = result.end - result.start === CLEARED_BY_CLIENT.length + 2
      isClientClearing ||= isShort && result.text() === CLEARED_BY_CLIENT
    },
    reach(result) {
      const before = reached
      reached = result
      for (; looked < passed.length - newest; looked++) {
        if (!passed[looked]!.mayGo || cleared.has(looked)) continue
        waiting.push(looked)
        waitingBytes += bytesOf([looked])
      }
      // Results of one turn stand beside each other.
      const isNewTurn = before === undefined || result.message - before.message > 1
      if (isNewTurn) rent += waitingBytes * read
    },
    due() {
      // A step between pauses is a bet that the conversation is a long one.
      if (clearing.enabled !== true) return []
      if (isClientClearing || waiting.length === 0 || rent < priceOf(waitingBytes)) return []
      const going = unquoted(waiting)
      return going.length > 0 && rent >= priceOf(bytesOf(going)) ? going : []
    },
    mayClear: () => oldOnes().length > 0,
    dueIfCold: () => unquoted(oldOnes()),
    clear(indexes) {
      for (const index of indexes) cleared.add(index)
      waiting = waiting.filter(index => !cleared.has(index))
      waitingBytes = bytesOf(waiting)
      rent = 0
    },
  }
}
