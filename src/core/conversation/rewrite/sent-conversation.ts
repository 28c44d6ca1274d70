import { hash } from 'node:crypto'
import { toBytes } from '../../base/text-bytes.ts'
import type { FreshRecord, KeepItem } from '../../contract/operation-result.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import { resolveProfile } from '../../pipeline/profile/resolve.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import { ClearingPlan } from './clearing-plan.ts'
import type { ContextSize } from './context-size.ts'
import type { History } from './history.ts'
import { pauseKey, turnKey } from './pauses.ts'
import type { ConversationContext } from './rewrite-context.ts'
import { type RewriteOptions, recall, rewrite } from './rewrite-result.ts'
import { createSentNotes } from './sent-notes.ts'
import {
  type Saving,
  type StoredRewrite,
  storedFact,
  sumOfSent,
  writeStored,
} from './stored-rewrite.ts'
import { stubFor } from './stub.ts'

/** A result as it is sent. */
interface Sent {
  readonly rewrite: WrittenRewrite
  /** The sum that its record has. */
  readonly sent: number
  readonly isRecalled: boolean
}

/** A rewrite with what must be kept for it, if it was made now. */
interface WrittenRewrite extends Omit<StoredRewrite, 'sent'> {
  readonly keep?: readonly KeepItem[]
}

/** A result of the conversation; `null` is one that is left alone. */
interface Passed {
  readonly key: string
  readonly result: ToolResultText
  /** As it was sent the first time. */
  readonly first: Sent | null
  now: Sent | null
}

interface SentOptions extends Omit<RewriteOptions, 'history' | 'notes'> {
  readonly forgets: boolean
  /** Whether the proxy answers calls for originals in this conversation. */
  readonly hasOwnTool: boolean
  /** The names of all results. */
  readonly keys: readonly string[]
  /** How often the model has spoken. */
  readonly modelTurns: number
  /** The first result that this turn brought, as an index. */
  readonly newFrom: number
  /** Whether the provider has nothing of the conversation cached; asked once a turn. */
  isCold(this: void): boolean
  readonly size: ContextSize | null
  /** Byte of the body at which the messages begin. */
  readonly start: number
}

/** A step of clearing before a result. */
interface ClearingStep {
  /** Results that go, by index. */
  readonly clears: readonly number[]
  /** Whether they go; `false` if the agent could not retrieve them any more. */
  readonly isApplied: boolean
}

/** What replaces the results of a request, and what must be true before it leaves. */
interface Finished {
  readonly replacements: readonly Replacement[]
  readonly savings: readonly Saving[]
  readonly keep: readonly KeepItem[]
  readonly markers: readonly string[]
  /** A sum over what is sent now for the results, up to each. */
  readonly sums: readonly number[]
}

const NOT_SOURCE = { isSource: false }
const NO_NOTE = {}
/**
 * From a result to that of a later turn there are more messages if a turn between them had none: of
 * the model, of the user, and of the model.
 */
const FEWEST_BETWEEN = 3
const NO_STEP: readonly number[] = []
const NO_BYTES = new Uint8Array(0)

/**
 * The results of a request as they are sent now: as they were the first time, except after a step
 * of clearing. Then cleared results are stubs, and those that referred to earlier ones are written
 * again, with references to what is left (`docs/guide/clearing.md`).
 */
export class SentConversation {
  /** Decisions that were made for the first time. */
  readonly records: FreshRecord[] = []
  /** How the results up to here, from the last compaction on, were sent the first time. */
  notes = createSentNotes()
  readonly #context: ConversationContext
  readonly #options: SentOptions
  readonly #plan: ClearingPlan | null
  /** Whether steps may have been taken between results. */
  readonly #mayPause: boolean
  readonly #passed: Passed[] = []
  readonly #cleared = new Set<number>()
  #history: History | undefined
  /** As the results have it that the history is of. */
  #walls = 0
  /** Whether a step would be free. Only the first one of a turn is. */
  #isFree: boolean
  /** The place after the last result that has a record. Steps are there. */
  #next = 0
  /** The place of the last step, and that of the step that `now` of all results has. */
  #lastStep = 0
  #settled = 0

  constructor(context: ConversationContext, options: SentOptions) {
    const { pipeline = DEFAULT_PIPELINE } = context
    const { forgets, makesMarkers, counting, start, isCold, hasOwnTool } = options
    const { hints } = resolveProfile(pipeline, counting)
    const mayMark = makesMarkers && hints.enabled && hints.types.elision.enabled
    this.#context = context
    this.#options = options
    const { enabled } = pipeline.clearing
    const mayClear = (enabled === 'auto' ? hasOwnTool : enabled) && !forgets
    const isOn = mayClear && mayMark && !context.isPaused
    this.#plan = isOn ? new ClearingPlan(pipeline, start, context.terms?.clearing) : null
    this.#mayPause = mayClear
    this.#isFree = isOn && isCold()
    this.#history = this.#begin()
  }

  /** What the next result may refer to; absent: nothing. */
  get history(): History | undefined {
    this.#settle()
    return this.#history
  }

  /**
   * Takes the step before a result: the recorded one if the result was sent before, else the one
   * that pays now.
   * @param mayBegin whether a step may be taken that is not recorded
   */
  step(result: ToolResultText, recalled: StoredRewrite | null, mayBegin: boolean): ClearingStep {
    this.#cross(result)
    this.#plan?.reach(result)
    if (recalled !== null) return this.#take(recalled.clears ?? NO_STEP)
    const { clears, isApplied } = this.#take(this.#pausedStep(result) ?? NO_STEP)
    const due = mayBegin && isApplied ? this.#due() : NO_STEP
    return { clears: [...clears, ...this.#take(due).clears], isApplied }
  }

  /**
   * Takes the step after the last result whose record may have one, if the turn brought no such
   * result: the recorded one, else that of a pause in which the provider has forgotten the
   * conversation. The record of the next result will have it too.
   * @param mayBegin whether a step may be taken that is not recorded
   * @returns whether it is applied
   */
  stepAtEnd(mayBegin: boolean): boolean {
    if (this.#next === 0 || this.#next > this.#options.newFrom) return true
    const recorded = this.#recordedPause()
    if (recorded !== undefined) return this.#take(recorded).isApplied
    const clears = mayBegin && this.#plan?.mayClear() === true ? this.#stepOfTurn() : NO_STEP
    if (clears.length > 0) this.#record(this.#pauseKey(), storedFact({ clears }))
    else this.#askForPause()
    return this.#take(clears).isApplied
  }

  /**
   * The step of a turn that has no record of a result. That there is none is recorded too, because
   * another process may know of a pause that this one does not know of.
   */
  #stepOfTurn(): readonly number[] {
    const key = turnKey(this.#options.keys[this.#next - 1]!, this.#options.modelTurns)
    const recorded = recall(key, this.#context)
    if (recorded !== null) return recorded.clears ?? NO_STEP
    const clears = (this.#isFree && this.#plan?.dueIfCold()) || NO_STEP
    this.#record(key, storedFact({ clears }))
    return clears
  }

  /** The step that pays before a result, or that costs nothing. */
  #due(): readonly number[] {
    const isFree = this.#isFree
    this.#isFree = false
    return (isFree ? this.#plan?.dueIfCold() : this.#plan?.due()) ?? NO_STEP
  }

  /** The step that was taken after the result before this one, if there was a turn without any. */
  #pausedStep({ message }: ToolResultText): readonly number[] | undefined {
    const before = this.#passed[this.#next - 1]?.result.message ?? message
    if (message - before < FEWEST_BETWEEN) return undefined
    const recorded = this.#recordedPause()
    if (recorded === undefined) this.#askForPause()
    return recorded
  }

  #recordedPause(): readonly number[] | undefined {
    if (!this.#mayPause) return undefined
    const key = this.#pauseKey()
    const recorded = recall(key, this.#context)
    const { terms, rewrites } = this.#context
    const mayBeLost = terms?.recordsAgain === true && rewrites?.recalled[key] === undefined
    if (recorded !== null && mayBeLost) {
      this.records.push({ key, bytes: writeStored(recorded), position: null })
    }
    return recorded?.clears
  }

  /** Another process may have taken the step. */
  #askForPause(): void {
    if (!this.#mayPause) return
    this.records.push({ key: this.#pauseKey(), bytes: NO_BYTES, position: null, isQuestion: true })
  }

  #pauseKey(): string {
    return pauseKey(this.#options.keys[this.#next - 1]!)
  }

  #take(clears: readonly number[]): ClearingStep {
    if (clears.length === 0) return { clears, isApplied: true }
    if (!this.#options.mayElide) return { clears, isApplied: false }
    for (const each of clears) this.#cleared.add(each)
    this.#plan?.clear(clears)
    this.#lastStep = this.#next
    return { clears, isApplied: true }
  }

  /** Goes on to the next result. */
  pass(key: string, result: ToolResultText, first: Sent | null): void {
    this.#cross(result)
    const isSettled = this.#settled === this.#lastStep
    const length = result.end - result.start
    const sent = first?.rewrite.literal?.length ?? length
    this.notes.add(result, first?.rewrite ?? NO_NOTE)
    this.#passed.push({ key, result, first, now: first })
    if (first !== null) this.#next = this.#passed.length
    this.#plan?.pass(result, sent)
    this.#options.size?.replaced(length, sent)
    if (isSettled) this.#history?.add(key, result, first?.rewrite ?? NOT_SOURCE)
  }

  /** @param restores whether originals that earlier markers name are missing */
  finish(restores: boolean): Finished {
    this.#settle()
    const replacements: Replacement[] = []
    const savings: Saving[] = []
    const keep: KeepItem[] = []
    const markers: string[] = []
    const sums: number[] = []
    for (const { result, now } of this.#passed) {
      sums.push(sumOfSent(sums.at(-1) ?? 0, now?.rewrite.digest ?? 0))
      if (now === null) continue
      const { start, end } = result
      const { isRecalled, rewrite } = now
      const { literal, saved } = rewrite
      if (isRecalled && rewrite.markers.length > 0) {
        if (restores) keep.push(toBytes(result.text()))
        else {
          for (const item of rewrite.markers) markers.push(item)
        }
      }
      if (rewrite.keep !== undefined) {
        for (const item of rewrite.keep) keep.push(item)
      }
      if (literal === null) continue
      replacements.push({ start, end, literal })
      savings.push({ end, shorter: end - start - literal.length, saved, tool: result.tool })
    }
    return { replacements, savings, keep, markers, sums }
  }

  /** After a compaction the model has nothing of what came before it. */
  #cross({ walls }: ToolResultText): void {
    if (walls === this.#walls) return
    this.#walls = walls
    this.notes = createSentNotes()
    this.#history = this.#begin()
  }

  #begin(): History | undefined {
    return this.#options.forgets ? undefined : this.#context.rewrites?.history?.begin()
  }

  /** Brings all results to the state after the last step. */
  #settle(): void {
    if (this.#settled === this.#lastStep) return
    this.#settled = this.#lastStep
    const { notes } = this
    const last = this.#walls
    this.#walls = 0
    this.#history = this.#begin()
    for (const [index, passed] of this.#passed.entries()) {
      const before = passed.now
      this.#cross(passed.result)
      if (this.#cleared.has(index)) passed.now = this.#stub(passed)
      else if (index < this.#lastStep) passed.now = this.#written(passed)
      const lengthOf = (sent: Sent | null) =>
        sent?.rewrite.literal?.length ?? passed.result.end - passed.result.start
      this.#options.size?.replaced(lengthOf(before), lengthOf(passed.now))
      this.#history?.add(passed.key, passed.result, passed.now?.rewrite ?? NOT_SOURCE)
    }
    if (last !== this.#walls) this.#history = this.#begin()
    this.#walls = last
    this.notes = notes
  }

  #stub({ key, result, first }: Passed): Sent | null {
    if (first === null) return null
    return this.#recorded(`${key} cleared`, () => {
      const { pipeline, counters } = this.#context
      const { counting } = this.#options
      const counter = counters.get(resolveTokenizer(counting))
      const verbosity = resolveProfile(pipeline, counting).hints.default_verbosity
      const stub = stubFor(result, first.rewrite, { counter, verbosity })
      return stub ?? { ...first.rewrite, sent: first.sent }
    })
  }

  /** A result that referred to earlier ones must not refer to those that were cleared. */
  #written({ key, result, first }: Passed): Sent | null {
    if (first === null || first.rewrite.saved.referred === 0) return first
    return this.#recorded(`${key} after ${this.#lastStep}`, () => {
      const contextTokens = this.#options.size === null ? undefined : 0
      const state = { history: this.#history, notes: createSentNotes() }
      const terms = { ...this.#options, ...state, isOriginal: false, contextTokens }
      return { ...rewrite(key, result, terms, this.#context), sent: 0 }
    })
  }

  /** What is recorded under a name, else what is made now. */
  #recorded(name: string, make: () => StoredRewrite & WrittenRewrite): Sent {
    const key = hash('sha256', name, 'hex')
    const recalled = recall(key, this.#context)
    if (recalled !== null) return { rewrite: recalled, sent: recalled.sent, isRecalled: true }
    const made = make()
    this.#record(key, made)
    return { rewrite: made, sent: made.sent, isRecalled: false }
  }

  #record(key: string, made: StoredRewrite): void {
    const bytes = writeStored(made)
    const position = this.#context.rewrites?.memory.place(key, bytes) ?? null
    this.records.push({ key, bytes, position })
  }
}
