import {
  type ArmDelta,
  arrival,
  type FollowUpKind,
  followUp,
  type ResultArm,
} from '../../arms/sums.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { pathOf } from '../../sessions/turn/call-facts.ts'
import { linesIn } from './quoted-lines.ts'
import type { StoredRewrite } from './stored-rewrite.ts'

/** Calls after a result in which what comes back to it is a follow-up. */
const WINDOW_CALLS = 10

/** How a result was sent. */
export type SentArm = Pick<StoredRewrite, 'arm' | 'markers' | 'literal'>

/** A result of the conversation, as it was sent. */
interface Passed {
  readonly result: ToolResultText
  readonly arm: ResultArm | undefined
  readonly markers: readonly string[]
  /** Whether it is the first of its turn. */
  readonly opensTurn: boolean
  /** Tokens of the conversation before it. */
  readonly context: number
  readonly literal: Uint8Array | null
}

export interface FollowUpTerms {
  /** Tools that write the file they are given, and tools that fetch originals. */
  readonly mutating: readonly string[]
  readonly retrieving: readonly string[]
  /** Byte of the body at which the messages begin. */
  readonly start: number
  count(text: string): number
}

/** What results add that come for the first time. */
interface ResultDeltas {
  readonly arms: readonly ArmDelta[]
  readonly results: number
  /** Those that an earlier call had asked for, and failed edits of files that one had shown. */
  readonly again: number
  readonly failedEdits: number
}

/** Bytes of JSON for a token, about. */
const BYTES_A_TOKEN = 4

/**
 * Finds what calls come back to earlier results, from the history alone. So each process finds the
 * same, and a result counts once: in the request that has it for the first time.
 */
export class FollowUps {
  readonly #terms: FollowUpTerms
  readonly #passed: Passed[] = []
  #counted = 0

  constructor(terms: FollowUpTerms) {
    this.#terms = terms
  }

  /** See `ArmCounts.pass`. Results that stand before a known one were counted with it. */
  pass(result: ToolResultText, sent: SentArm | null, isKnown: boolean): void {
    const before = this.#passed.at(-1)?.result
    this.#passed.push({
      result,
      arm: sent?.arm,
      markers: sent?.markers ?? [],
      opensTurn: before === undefined || result.message - before.message > 1,
      context: Math.max(0, result.start - this.#terms.start) / BYTES_A_TOKEN,
      literal: sent?.literal ?? null,
    })
    if (isKnown) this.#counted = this.#passed.length
  }

  /** What the results add that were passed since the last time. */
  uncounted(): ResultDeltas {
    const arms: (ArmDelta | null)[] = []
    let again = 0
    let failedEdits = 0
    const from = this.#counted
    for (let at = from; at < this.#passed.length; at++) {
      const last = this.#passed[at]!
      if (last.arm !== undefined) arms.push(arrival(last.arm))
      const kinds = new Set<FollowUpKind>()
      for (const earlier of this.#before(at)) {
        const back = this.#comesBack(last, this.#passed[earlier]!)
        if (back === null) continue
        kinds.add(back.kind)
        arms.push(this.#delta(at, back, earlier))
      }
      if (kinds.delete('failed_edit')) failedEdits++
      if (kinds.size > 0) again++
    }
    this.#counted = this.#passed.length
    return {
      arms: arms.filter(delta => delta !== null),
      results: this.#counted - from,
      again,
      failedEdits,
    }
  }

  #delta(at: number, { kind, share }: ComingBack, from: number): ArmDelta | null {
    const [last, earlier] = [this.#passed[at]!, this.#passed[from]!]
    if (earlier.arm === undefined) return null
    const between = this.#passed.slice(from + 1, at).flatMap(each => {
      const back = this.#comesBack(each, earlier)
      return back === null ? [] : [back.share * this.#costOf(each)]
    })
    return followUp(earlier.arm, {
      kind,
      cost: share * this.#costOf(last),
      before: between.reduce((sum, cost) => sum + cost, 0),
      isFirst: between.length === 0,
      takesTurn: last.opensTurn,
    })
  }

  /** Results of the last calls before one, by index, the newest first. */
  #before(at: number): readonly number[] {
    const { ordinal } = this.#passed[at]!.result
    const found: number[] = []
    for (let from = at - 1; from >= 0; from--) {
      const calls = ordinal - this.#passed[from]!.result.ordinal
      if (calls > WINDOW_CALLS) break
      if (calls > 0) found.push(from)
    }
    return found
  }

  /** What a later result is to an earlier one; `null`: nothing. */
  #comesBack({ result }: Passed, earlier: Passed): ComingBack | null {
    const { mutating, retrieving } = this.#terms
    const { tool } = result
    if (tool === undefined) return null
    const args = result.args()
    if (isRetrieving(tool, retrieving)) {
      return earlier.markers.some(hash => names(args, hash)) ? wholly('retrieval') : null
    }
    const path = pathOf({ args })
    const isOfFile = path !== undefined && path === pathOf({ args: earlier.result.args() })
    if (mutating.includes(tool)) return isOfFile && result.isError ? wholly('failed_edit') : null
    if (tool === earlier.result.tool && sameBytes(result, earlier.result))
      return wholly('same_call')
    if (!isOfFile || mutating.includes(earlier.result.tool ?? '')) return null
    const share = repeatedShare(result, earlier.result)
    return share === 0 ? null : { kind: 'same_file', share }
  }

  #costOf({ result, literal, opensTurn, context }: Passed): number {
    const text = literal === null ? result.text() : textOf(literal)
    return this.#terms.count(text) + (opensTurn ? turnCost(context) : 0)
  }
}

/** A follow-up, and how much of its cost is for what the earlier result had. */
interface ComingBack {
  readonly kind: FollowUpKind
  readonly share: number
}

const wholly = (kind: FollowUpKind): ComingBack => ({ kind, share: 1 })

function sameBytes(a: ToolResultText, b: ToolResultText): boolean {
  return Buffer.compare(a.argsBytes(), b.argsBytes()) === 0
}

/**
 * The share of a result's lines that an earlier result of the same file has too. An agent that
 * reads on in a file does not come back: counted whole, such reads hide what elision does.
 */
function repeatedShare(result: ToolResultText, earlier: ToolResultText): number {
  const lines = linesIn(result.text())
  if (lines.length === 0) return 0
  const before = new Set(linesIn(earlier.text()))
  return lines.filter(line => before.has(line)).length / lines.length
}

function textOf(literal: Uint8Array): string {
  return JSON.parse(Buffer.from(literal).toString()) as string
}

/** Whether arguments name a hash; a call may ask for a part of it, in a field of its own. */
function names(args: unknown, hash: string): boolean {
  if (typeof args !== 'object' || args === null) return false
  return Object.values(args).some(value => typeof value === 'string' && value.startsWith(hash))
}

/**
 * Prices in uncached input tokens, as `docs/guide/savings.md` has them: a token that is written to
 * the cache and read again, and a token of output.
 */
const CACHE_WRITE = 1.25
const CACHE_READ = 0.1
const OUTPUT_PRICE = 5

/** Turns that a text stays in a context, about. */
const TURNS_TO_COME = 20
/** Tokens that a model writes to call again, and those of the call and its frame in the prompt. */
const OUTPUT_TOKENS = 100
const CALL_TOKENS = 150

/** What a token in the prompt costs until the end of its conversation. */
const OF_PROMPT = CACHE_WRITE + CACHE_READ * TURNS_TO_COME

/**
 * What one more turn costs, in tokens that stay in the prompt: it reads the context once more, and
 * its call is written and stays.
 */
function turnCost(contextTokens: number): number {
  return (CACHE_READ * contextTokens + OUTPUT_PRICE * OUTPUT_TOKENS) / OF_PROMPT + CALL_TOKENS
}
