import { CLEARING_TERMS, type ClearingTerms } from '../../base/clearing-terms.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import type { PipelineConfig } from '../../pipeline/profile/pipeline-config.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { argumentLines, linesIn } from './quoted-lines.ts'

/** Bytes that a stub takes, about, and those of a result that is worth one. */
const STUB_BYTES = 120
const LEAST_BYTES = 512

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
interface PassedResult {
  readonly result: ToolResultText
  /** Bytes of its literal. */
  readonly sent: number
  /** Bytes by which it and those before it are shorter than in the body. */
  readonly shorter: number
  readonly mayGo: boolean
}

type ClearingSections = Pick<PipelineConfig, 'clearing' | 'dedup' | 'elision'>

/**
 * Decides when old results leave a conversation, like one who rents until the rent has reached the
 * price of buying. The rent is what reading the results that may go has cost in the turns since the
 * last step. The price is what writing the rest into the cache again costs. So a step never costs
 * more than what waiting for it has cost already. Everything depends on the results before alone.
 */
export class ClearingPlan {
  readonly #sections: ClearingSections
  readonly #terms: ClearingTerms
  readonly #start: number
  readonly #passed: PassedResult[] = []
  /** Results that are old enough, and how far they were looked at. */
  #waiting: number[] = []
  #waitingBytes = 0
  readonly #cleared = new Set<number>()
  #looked = 0
  /** The newest result that has a line, and how many results were read for it. */
  readonly #byLine = new Map<string, number>()
  #indexed = 0
  /** The lines of edits, by their arguments, which may be most of the body and of many results. */
  readonly #linesOf = new Map<unknown, ReadonlySet<string>>()
  #rent = 0
  #reached: ToolResultText | undefined
  #isClientClearing = false

  /** @param start byte of the body that the conversation begins with */
  constructor(sections: ClearingSections, start: number, terms = CLEARING_TERMS) {
    this.#sections = sections
    this.#terms = terms
    this.#start = start
  }

  /** Notes a result that is sent with a literal of so many bytes. */
  pass(result: ToolResultText, sent: number): void {
    const shorter = (this.#passed.at(-1)?.shorter ?? 0) + result.end - result.start - sent
    this.#passed.push({ result, sent, shorter, mayGo: this.#mayGo(result, sent) })
    const isShort = result.end - result.start === CLEARED_BY_CLIENT.length + 2
    this.#isClientClearing ||= isShort && result.text() === CLEARED_BY_CLIENT
  }

  /** Comes to the next result; the turn before is paid for. */
  reach(result: ToolResultText): void {
    const { keepNewest, cachedRead } = this.#terms
    const before = this.#reached
    this.#reached = result
    for (; this.#looked < this.#passed.length - keepNewest; this.#looked++) {
      if (!this.#passed[this.#looked]!.mayGo || this.#cleared.has(this.#looked)) continue
      this.#waiting.push(this.#looked)
      this.#waitingBytes += this.#bytesOf([this.#looked])
    }
    // Results of one turn stand beside each other.
    const isNewTurn = before === undefined || result.message - before.message > 1
    if (isNewTurn) this.#rent += this.#waitingBytes * cachedRead
  }

  /** The results that go before the one that was reached, by index; none if no step pays now. */
  due(): readonly number[] {
    // A step between pauses is a bet that the conversation is a long one.
    if (this.#sections.clearing.enabled !== true) return []
    if (this.#isClientClearing || this.#waiting.length === 0) return []
    if (this.#rent < this.#priceOf(this.#waitingBytes)) return []
    const going = this.#unquoted(this.#waiting)
    const pays = going.length > 0 && this.#rent >= this.#priceOf(this.#bytesOf(going))
    return pays ? going : []
  }

  /** Whether any may go. */
  mayClear(): boolean {
    return this.#oldOnes().length > 0
  }

  /** Those that go after the last one if nothing before it is cached, so that a step is free. */
  dueIfCold(): readonly number[] {
    return this.#unquoted(this.#oldOnes())
  }

  /** These results go. */
  clear(indexes: readonly number[]): void {
    for (const index of indexes) this.#cleared.add(index)
    this.#waiting = this.#waiting.filter(index => !this.#cleared.has(index))
    this.#waitingBytes = this.#bytesOf(this.#waiting)
    this.#rent = 0
  }

  #bytesOf(indexes: readonly number[]): number {
    return indexes.reduce((sum, index) => sum + this.#passed[index]!.sent - STUB_BYTES, 0)
  }

  /**
   * The price of a step that takes so many bytes away, beyond reading what it writes. Providers
   * look for a cached prefix only a few messages before a breakpoint, so all messages are written.
   */
  #priceOf(bytes: number): number {
    const { cachedRead, cacheWrite } = this.#terms
    const sent = this.#reached!.start - this.#start - this.#passed.at(-1)!.shorter
    return PATIENCE * (sent - bytes) * (cacheWrite - cachedRead)
  }

  /** Those that may go, the newest of those that were passed counted. */
  #oldOnes(): readonly number[] {
    if (this.#isClientClearing) return []
    const kept = this.#terms.keepAtPauses
    const old = this.#passed.slice(0, Math.max(0, this.#passed.length - kept))
    return [...old.keys()].filter(index => old[index]!.mayGo && !this.#cleared.has(index))
  }

  #mayGo({ tool, isError }: ToolResultText, sent: number): boolean {
    const { clearing, elision } = this.#sections
    const stays = isRetrieving(tool, elision.redeem_tools) || isRetrieving(tool, clearing.exclude)
    return sent >= LEAST_BYTES && tool !== undefined && !isError && !stays
  }

  /** Without those whose lines recent edits quote. Of equal lines, the newest result is meant. */
  #unquoted(indexes: readonly number[]): readonly number[] {
    this.#indexLines(Math.max(this.#looked, (indexes.at(-1) ?? -1) + 1))
    const quoted = new Set<number>()
    for (const args of this.#recentEdits()) {
      const lines = this.#linesOf.get(args) ?? argumentLines(args)
      this.#linesOf.set(args, lines)
      for (const line of lines) {
        const index = this.#byLine.get(line)
        if (index !== undefined) quoted.add(index)
      }
    }
    return indexes.filter(index => !quoted.has(index))
  }

  #indexLines(end: number): void {
    for (; this.#indexed < end; this.#indexed++) {
      const { result, mayGo } = this.#passed[this.#indexed]!
      if (mayGo) for (const line of linesIn(result.text())) this.#byLine.set(line, this.#indexed)
    }
  }

  /** The arguments of the last calls that edit something. */
  #recentEdits(): ReadonlySet<unknown> {
    const { dedup } = this.#sections
    const newest = Math.min(this.#terms.keepNewest, MOST_RECENT)
    const near = this.#passed.slice(-newest).map(({ result }) => result)
    const edits = [...near, ...(this.#reached ? [this.#reached] : [])].filter(({ tool }) =>
      isRetrieving(tool, dedup.mutating_tools),
    )
    return new Set(edits.map(each => each.args()))
  }
}
