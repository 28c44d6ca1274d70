import type { ByteAnswer, FreshResults, HostBlockCount } from '../../contract/operation-result.ts'
import type { RequestTerms } from '../../contract/request-terms.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { type SentResult, withComingBack } from '../needs/coming-back.ts'
import { newFrom } from '../parse/last-turn.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { LeversInForce } from '../prefix/levers.ts'
import { type Steered, steerRequest } from '../prefix/steer-request.ts'
import { ContextSize } from './context-size.ts'
import { type ArmCounts, armCounts, drawOf } from './count-arms.ts'
import { isLeftAlone, type NamedResults } from './named-results.ts'
import { type NewResult, withResult } from './new-result.ts'
import { isCold } from './pauses.ts'
import type { ConversationContext, RewriteContext } from './rewrite-context.ts'
import {
  AS_IT_CAME,
  type NewRewrite,
  type RewriteOptions,
  recall,
  rewrite,
} from './rewrite-result.ts'
import { SentConversation } from './sent-conversation.ts'
import {
  type Saving,
  type StoredRewrite,
  sumOfSent,
  sumOfSteps,
  writeStored,
} from './stored-rewrite.ts'
import type { RequestArm } from './unit-arm.ts'

/** Conditions that must be true before the body leaves. */
export type Promised = Pick<ByteAnswer, 'records' | 'keep' | 'markers'>

/** The rewritten results of a conversation. */
export interface RewrittenResults extends Promised {
  /** See `PromptPrint.sent`. */
  readonly sums: readonly number[]
  readonly replacements: readonly Replacement[]
  readonly savings: readonly Saving[]
  /**
   * Whether a result that was sent before now follows other texts, or is written in another way.
   */
  readonly isChanged: boolean
  /** Results that came for the first time; `null` if there are none. */
  readonly fresh: FreshResults | null
  /** Results that there was no time for. */
  readonly late: number
  /** Places that look like hints and were escaped, in results that came for the first time. */
  readonly lookAlikes: number
  /** What hosts say in results that came for the first time. */
  readonly hostBlocks: HostBlockCount
  /** Results that came for the first time. */
  readonly responses: readonly NewResult[]
  readonly steered: Steered
}

/** What is known of a request before its results are rewritten. */
export interface KnownRequest extends NamedResults {
  readonly conversation: string
  readonly arm: RequestArm | null
  readonly levers: LeversInForce | null
}

/** How one result is sent. */
interface WrittenResult {
  readonly key: string
  readonly result: ToolResultText
  /** How it was sent before; `null`: never, as far as is known. */
  readonly recalled: StoredRewrite | null
  /** Whether it is sent as it was before. */
  readonly isUsable: boolean
  readonly isEarlier: boolean
  readonly rewritten: StoredRewrite | NewRewrite | typeof AS_IT_CAME
  readonly clears: StoredRewrite['clears'] & object
  /** The sum of all digests up to it. */
  readonly sum: number
  /** Whether what was sent before is not what is sent now. */
  readonly differs: boolean
}

/** The results of one request, rewritten from the first to the last. */
export class ResultsRewrite {
  readonly #scanned: ScannedRequest
  readonly #known: KnownRequest
  readonly #context: ConversationContext
  readonly #terms: RequestTerms | undefined
  readonly #options: Omit<RewriteOptions, 'history' | 'notes'>
  readonly #size: ContextSize | null
  readonly #newFrom: number
  readonly #sent: SentConversation
  readonly #counted: ArmCounts | null
  readonly #tellFrom: (index: number) => void
  readonly #responses: NewResult[] = []
  readonly #seen: SentResult[] = []
  #fresh: FreshResults | null = null
  #late = 0
  #lookAlikes = 0
  #hostBlocks: HostBlockCount = { blocks: 0, tokens: 0 }
  #sum = 0
  #isChanged = false
  #isAnyRecalled = false

  constructor(scanned: ScannedRequest, known: KnownRequest, context: ConversationContext) {
    const { arm, keys, forgets, levers } = known
    const { rewrites, terms, pipeline = DEFAULT_PIPELINE } = context
    const { model = terms?.model } = scanned
    // If the provider forgets results, the agent may have lost the text that names how to ask.
    const mayElide = known.canRetrieve && terms?.redeems === true
    this.#scanned = scanned
    this.#known = known
    this.#context = context
    this.#terms = terms
    this.#options = {
      counting: model === undefined ? {} : { model },
      mayElide,
      makesMarkers: mayElide && known.mayRetrieve && terms?.recordedOnly !== true,
      responseBudget: terms?.responseBudget,
      draw: drawOf(arm, terms),
    }
    this.#size = pipeline.views.pressure.length === 0 ? null : new ContextSize(scanned)
    this.#newFrom = newFrom(scanned)
    const start = scanned.messages[0]?.start ?? 0
    this.#sent = new SentConversation(context, {
      ...this.#options,
      forgets,
      hasOwnTool: levers?.ownTool !== undefined,
      size: this.#size,
      start,
      keys,
      newFrom: this.#newFrom,
      modelTurns: scanned.modelTurns,
      isCold: () => isCold({ scanned, keys, lifeMs: levers?.lifeMs }, context),
    })
    this.#counted = armCounts(start, arm, this.#options.counting, context)
    this.#tellFrom = tellOnce(keys, rewrites)
    for (const item of arm?.records ?? []) this.#sent.records.push(item)
  }

  run(): RewrittenResults {
    const { results } = this.#scanned
    const { keys, retrievingTools } = this.#known
    for (const [index, result] of results.entries()) {
      const key = keys[index]!
      if (isLeftAlone(result, retrievingTools)) this.#leaveAlone(key, result)
      else this.#pass(this.#write(index, key, result))
    }
    return this.#finish()
  }

  #leaveAlone(key: string, result: ToolResultText): void {
    this.#sent.pass(key, result, null)
    this.#counted?.pass(result, null, false)
    this.#seen.push({ result, literal: null, markers: [], isNew: false, isKnown: false })
  }

  /** As it was sent before, or as it is written now if there is time. */
  #write(index: number, key: string, result: ToolResultText): WrittenResult {
    const isEarlier = index < this.#newFrom
    const recalled = recall(key, this.#context)
    // A changed prefix is better than a marker for an original that may be gone.
    const isUsable = recalled !== null && (this.#options.mayElide || recalled.markers.length === 0)
    const isWhole =
      this.#terms?.earlierWhole === true && isEarlier && this.#isAnyRecalled && recalled === null
    this.#isAnyRecalled ||= recalled !== null
    const makesMarkers = this.#options.makesMarkers && !isWhole
    const { clears, isApplied } = this.#sent.step(result, recalled, makesMarkers)
    if (recalled === null) this.#tellFrom(index)
    const rewritten = isUsable ? recalled : this.#writeNow(key, result, makesMarkers)
    this.#sum = sumOfSent(sumOfSteps(this.#sum, clears), rewritten.digest)
    const differs = recalled !== null && !(isUsable && recalled.sent === this.#sum)
    this.#isChanged ||= differs || !isApplied
    const sum = this.#sum
    return { key, result, recalled, isUsable, isEarlier, rewritten, clears, sum, differs }
  }

  #writeNow(
    key: string,
    result: ToolResultText,
    makesMarkers: boolean,
  ): NewRewrite | typeof AS_IT_CAME {
    const until = this.#terms?.newUntil
    if (until !== undefined && Date.now() > until) {
      this.#late++
      return AS_IT_CAME
    }
    const { history, notes } = this.#sent
    const isOriginal = isRetrieving(result.tool, this.#known.retrievingTools)
    const contextTokens = this.#size?.tokensBefore(result)
    const options = { ...this.#options, makesMarkers, history, notes, isOriginal, contextTokens }
    return rewrite(key, result, options, this.#context)
  }

  #pass(written: WrittenResult): void {
    const { key, result, recalled, isUsable, rewritten } = written
    this.#record(written)
    this.#sent.pass(key, result, { rewrite: rewritten, sent: written.sum, isRecalled: isUsable })
    this.#counted?.pass(result, rewritten, recalled !== null)
    const { literal, markers } = rewritten
    const isNew = recalled === null && 'told' in rewritten
    this.#seen.push({ result, literal, markers, isNew, isKnown: recalled !== null })
    if (!('told' in rewritten)) return
    this.#lookAlikes += rewritten.lookAlikes
    if (!isNew) return
    this.#hostBlocks = withBlocks(this.#hostBlocks, rewritten.hostBlocks)
    this.#fresh = withResult(this.#fresh, rewritten.tokens)
    const { tokens, told } = rewritten
    const { row } = told
    const conversation = { kind: 'conversation', name: this.#known.conversation } as const
    const more = { conversation, ...this.#counted?.last(tokens) }
    this.#responses.push({
      recordKey: key,
      ...told,
      ...(row && { row: () => ({ ...row(), ...more }) }),
    })
  }

  /** Notes what is to be recorded, if it is not known. */
  #record({ key, recalled, rewritten, isEarlier, clears, sum, differs }: WrittenResult): void {
    const { rewrites } = this.#context
    const { records } = this.#sent
    if (recalled === null || differs) {
      const bytes = writeStored({ ...rewritten, sent: sum, ...(clears.length > 0 && { clears }) })
      const position = rewrites?.memory.place(key, bytes, differs) ?? null
      records.push({
        key,
        bytes,
        position,
        ...(differs && { replaces: true }),
        ...(isEarlier && { isEarlier: true }),
      })
    } else if (this.#terms?.recordsAgain === true && rewrites?.recalled[key] === undefined) {
      records.push({ key, bytes: writeStored(recalled), position: null })
    }
  }

  #finish(): RewrittenResults {
    const sent = this.#sent
    const { retrievingTools, levers } = this.#known
    if (!sent.stepAtEnd(this.#options.makesMarkers)) this.#isChanged = true
    const steered = steerRequest(this.#scanned, levers, this.#context)
    for (const item of steered.records) sent.records.push(item)
    const finished = sent.finish(this.#terms?.restores === true)
    const isTold = this.#context.telemetry === true
    const responses = this.#responses
    return {
      ...finished,
      records: sent.records,
      isChanged: this.#isChanged,
      late: this.#late,
      lookAlikes: this.#lookAlikes,
      hostBlocks: this.#hostBlocks,
      fresh: this.#fresh,
      responses: isTold ? withComingBack(responses, this.#seen, retrievingTools) : responses,
      steered,
    }
  }
}

/** As many as are looked up at once. */
const MOST_AHEAD = 64

/** Tells which keys come from the first new result on: a turn's new results are its last. */
function tellOnce(keys: readonly string[], rewrites: RewriteContext | undefined) {
  let isTold = false
  return (index: number) => {
    if (!isTold) rewrites?.ahead?.(keys.slice(index, index + MOST_AHEAD))
    isTold = true
  }
}

function withBlocks(before: HostBlockCount, more?: HostBlockCount): HostBlockCount {
  const { blocks = 0, tokens = 0 } = more ?? {}
  return { blocks: before.blocks + blocks, tokens: before.tokens + tokens }
}
