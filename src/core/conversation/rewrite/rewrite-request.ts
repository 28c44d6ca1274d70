import type {
  ByteAnswer,
  FreshResults,
  HostBlockCount,
  RewriteReport,
} from '../../contract/operation-result.ts'
import type { ReadLimits } from '../../json/bytes/read-json.ts'
import { type Replacement, splice } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/pipeline-config.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { inConversation } from '../../telemetry/pseudonyms.ts'
import { type SentResult, withComingBack } from '../needs/coming-back.ts'
import { conversationName } from '../parse/conversation-name.ts'
import { newFrom } from '../parse/last-turn.ts'
import { type RouteName, type ScannedRequest, scanRequest } from '../parse/scan-request.ts'
import { type LeversInForce, leversOf } from '../prefix/levers.ts'
import { type Steered, steerRequest } from '../prefix/steer-request.ts'
import { printOf, type SentPrompt } from '../print/prompt-print.ts'
import { tokensOfTool } from '../retrieve/retrieve-tool.ts'
import { appendAt, wholeRequest } from '../retrieve/whole-request.ts'
import { ContextSize } from './context-size.ts'
import { armCounts, drawOf } from './count-arms.ts'
import { type KeptGeneration, keptGeneration } from './kept-generation.ts'
import { isLeftAlone, type NamedResults, nameResults } from './named-results.ts'
import { type NewResult, reportOf, withResult } from './new-result.ts'
import { isCold } from './pauses.ts'
import type { ConversationContext, RewriteContext } from './rewrite-context.ts'
import { AS_IT_CAME, recall, rewrite } from './rewrite-result.ts'
import { SentConversation } from './sent-conversation.ts'
import {
  type SavedTokens,
  type Saving,
  savedPlaces,
  sumOfSent,
  sumOfSteps,
  writeStored,
} from './stored-rewrite.ts'
import { armOf, type RequestArm } from './unit-arm.ts'

/** A rewritten request body, with a report. */
export interface RewrittenRequest extends Promised {
  /** The very body if nothing changes. */
  readonly bytes: Uint8Array
  readonly report: RewriteReport
  /** New results, if there is telemetry. */
  readonly responses: readonly NewResult[]
}

/** Conditions that must be true before the body leaves. */
type Promised = Pick<ByteAnswer, 'records' | 'keep' | 'markers'>

/**
 * Writes the tool results of a request body smaller. The replacement of a result depends on its
 * text and its call, the results before it, the model and the configuration. If a record has the
 * replacement that was sent before, in this conversation or in one with the same start, it is sent
 * again. So the prefix of a conversation stays byte-equal, and the provider's prompt cache finds
 * it. Every other byte stays.
 */
export function rewriteRequest(
  body: Uint8Array,
  route: RouteName,
  limits: ReadLimits,
  context: ConversationContext,
): RewrittenRequest {
  const { turns } = context.rewrites ?? {}
  const received = (turns?.scan ?? scanRequest)(body, route, limits)
  if (received === null) return unread(body)
  // What is computed beside keeps nothing.
  const isBeside = context.terms?.beside !== undefined
  const kept: KeptGeneration = isBeside ? { context } : keptGeneration(received, context)
  if ('missing' in kept) return unread(body, { needs_generation: kept.missing })
  const conversation = conversationName(received)
  const levers = leversOf(received, conversation, kept.context)
  const whole = wholeRequest(body, received, { conversation, levers, limits }, kept.context)
  if (whole === null) return unread(body)
  const { scanned, redeeming } = whole
  const named = nameResults(scanned, kept.context, redeeming !== undefined)
  const first = () =>
    named.keys.find((_, index) => !isLeftAlone(scanned.results[index]!, named.retrievingTools))
  const arm = armOf({ scanned, conversation, first }, kept.context)
  const known = { ...named, conversation, arm, levers }
  const change = headChange(received, context)
  const print = (sent: SentPrompt) => printOf(scanned, sent, kept.context)
  if (arm?.unit.isHeldOut === true) {
    return heldOut(body, scanned, { conversation, arm, noted: { ...change, ...print({}) } })
  }
  const results = rewriteResults(scanned, known, inNamed(conversation, kept.context))
  const { replacements, savings, isChanged, late, lookAlikes, hostBlocks, fresh } = results
  const records = [kept.record ?? [], results.records, whole.questions].flat()
  const changes = inOrder([...replacements, ...results.steered.replacements])
  const bytes = splice(whole.bytes, changes)
  const sum = (kind: keyof SavedTokens) => savings.reduce((all, { saved }) => all + saved[kind], 0)
  const [referred, elided] = [sum('referred'), sum('elided')]
  const report: RewriteReport = {
    readable: true,
    texts: scanned.results.length,
    rewritten: replacements.length,
    tokens_saved: referred + sum('encoded') + elided,
    tokens_referred: referred,
    tokens_elided: elided,
    prefix_changed: isChanged || (redeeming?.changed ?? 0) > 0,
    ...(fresh === null ? {} : { fresh }),
    ...(late === 0 ? {} : { late }),
    ...(lookAlikes === 0 ? {} : { look_alikes: lookAlikes }),
    ...(hostBlocks.blocks === 0 ? {} : { host_blocks: hostBlocks }),
    conversation,
    ...modelOf(scanned),
    ...change,
    ...print(results),
    ...(results.steered.levers.length > 0 && { levers: results.steered.levers }),
    ...(scanned.continues === undefined ? {} : { continues: scanned.continues }),
    ...(redeeming && { redeeming: { ...redeeming, ...appendAt(scanned, changes) } }),
    saved: savedPlaces(scanned, savings, tokensOfTool(levers, scanned, kept.context)),
  }
  const { keep, markers, responses } = results
  return { bytes, report, responses, records, keep, markers }
}

/** A model's id as operators see it; none if it may be anything else. */
const MODEL = /^[\w.:/@-]{1,128}$/

function modelOf({ model }: ScannedRequest): Pick<RewriteReport, 'model'> {
  return model !== undefined && MODEL.test(model) ? { model } : {}
}

/** Levers and results change places of their own. */
function inOrder(replacements: readonly Replacement[]): readonly Replacement[] {
  return [...replacements].sort((a, b) => a.start - b.start)
}

/** What changed before the conversation, if that is looked for. */
function headChange(
  scanned: ScannedRequest,
  { rewrites, terms, pipeline = DEFAULT_PIPELINE }: ConversationContext,
): Pick<RewriteReport, 'head_change'> {
  const isLeaving = terms?.beside === undefined
  if (rewrites?.heads === undefined || !pipeline.cache_align.detect || !isLeaving) return {}
  const whose = { tenant: rewrites.tenant, key: terms?.key ?? '' }
  const change = rewrites.heads.see(scanned, whose)
  return change === null ? {} : { head_change: change }
}

/** The body as it is. */
function unread(body: Uint8Array, more: Partial<RewriteReport> = {}): RewrittenRequest {
  const report = { readable: false, texts: 0, rewritten: 0, tokens_saved: 0, ...more }
  return { bytes: body, report, responses: [], records: [], keep: [], markers: [] }
}

/** What is known of a request that is held out. */
interface HeldOut {
  readonly conversation: string
  readonly arm: RequestArm
  /** What is reported of its prompt. */
  readonly noted: Pick<RewriteReport, 'head_change' | 'print'>
}

/** The very body, with what is recorded of its unit. */
function heldOut(
  body: Uint8Array,
  scanned: ScannedRequest,
  { conversation, arm: { key, unit, records }, noted }: HeldOut,
): RewrittenRequest {
  const { results, continues } = scanned
  const report: RewriteReport = {
    readable: true,
    texts: results.length,
    rewritten: 0,
    tokens_saved: 0,
    prefix_changed: false,
    conversation,
    ...modelOf(scanned),
    ...noted,
    ...(continues === undefined ? {} : { continues }),
    held_out: { key, share: unit.share },
  }
  return { bytes: body, report, responses: [], records, keep: [], markers: [] }
}

/** The rewritten results of a conversation. */
interface RewrittenResults extends Promised {
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

/** The context with the conversation's name for telemetry, if there is one. */
function inNamed(conversation: string, context: ConversationContext): ConversationContext {
  const { telemetry } = context
  if (telemetry === undefined) return context
  return { ...context, telemetry: inConversation(telemetry, `conversation ${conversation}`) }
}

/** What is known of a request before its results are rewritten. */
interface KnownRequest extends NamedResults {
  readonly conversation: string
  readonly arm: RequestArm | null
  readonly levers: LeversInForce | null
}

function rewriteResults(
  scanned: ScannedRequest,
  { keys, canRetrieve, mayRetrieve, retrievingTools, forgets, arm, levers }: KnownRequest,
  context: ConversationContext,
): RewrittenResults {
  const { results } = scanned
  const { rewrites, terms, pipeline = DEFAULT_PIPELINE } = context
  const { model = terms?.model } = scanned
  // If the provider forgets results, the agent may have lost the text that names how to ask.
  const mayElide = canRetrieve && terms?.redeems === true
  const options = {
    counting: model === undefined ? {} : { model },
    mayElide,
    makesMarkers: mayElide && mayRetrieve && terms?.recordedOnly !== true,
    responseBudget: terms?.responseBudget,
    draw: drawOf(arm, terms),
  }
  const size = pipeline.views.pressure.length === 0 ? null : new ContextSize(scanned)
  const start = scanned.messages[0]?.start ?? 0
  const fromNew = newFrom(scanned)
  const hasOwnTool = levers?.ownTool !== undefined
  const sent = new SentConversation(context, {
    ...{ ...options, forgets, hasOwnTool, size, start, keys },
    ...{ newFrom: fromNew, modelTurns: scanned.modelTurns },
    isCold: () => isCold({ scanned, keys }, pipeline, context),
  })
  const counted = armCounts(start, arm, options.counting, context)
  const { records } = sent
  for (const item of arm?.records ?? []) records.push(item)
  const responses: NewResult[] = []
  const seen: SentResult[] = []
  let fresh: FreshResults | null = null
  const isOver = () => terms?.newUntil !== undefined && Date.now() > terms.newUntil
  let late = 0
  let lookAlikes = 0
  let hostBlocks: HostBlockCount = { blocks: 0, tokens: 0 }
  let sum = 0
  let isChanged = false
  let isAnyRecalled = false
  const tellFrom = tellOnce(keys, rewrites)
  for (const [index, result] of results.entries()) {
    const key = keys[index]!
    const isEarlier = index < fromNew
    const isOriginal = isRetrieving(result.tool, retrievingTools)
    if (isLeftAlone(result, retrievingTools)) {
      sent.pass(key, result, null)
      counted?.pass(result, null, false)
      seen.push({ result, literal: null, markers: [], isNew: false, isKnown: false })
      continue
    }
    const recalled = recall(key, context)
    // A changed prefix is better than a marker for an original that may be gone.
    const isUsable = recalled !== null && (options.mayElide || recalled.markers.length === 0)
    const isWhole = terms?.earlierWhole === true && isEarlier && isAnyRecalled && recalled === null
    isAnyRecalled ||= recalled !== null
    const makesMarkers = options.makesMarkers && !isWhole
    const { clears, isApplied } = sent.step(result, recalled, makesMarkers)
    const contextTokens = () => size?.tokensBefore(result)
    const { history, notes } = sent
    const write = () =>
      rewrite(
        key,
        result,
        {
          ...{ ...options, makesMarkers, history, notes, isOriginal },
          contextTokens: contextTokens(),
        },
        context,
      )
    const isLate = !isUsable && isOver()
    if (recalled === null) tellFrom(index)
    if (isLate) late++
    const rewritten = isUsable ? recalled : isLate ? AS_IT_CAME : write()
    if ('lookAlikes' in rewritten) {
      lookAlikes += rewritten.lookAlikes
      if (recalled === null) hostBlocks = withBlocks(hostBlocks, rewritten.hostBlocks)
    }
    sum = sumOfSent(sumOfSteps(sum, clears), rewritten.digest)
    const differs = recalled !== null && !(isUsable && recalled.sent === sum)
    isChanged ||= differs || !isApplied
    if (recalled === null || differs) {
      const bytes = writeStored({ ...rewritten, sent: sum, ...(clears.length > 0 && { clears }) })
      const position = rewrites?.memory.place(key, bytes, differs) ?? null
      records.push({
        ...{ key, bytes, position },
        ...(differs && { replaces: true }),
        ...(isEarlier && { isEarlier: true }),
      })
    } else if (terms?.recordsAgain === true && rewrites?.recalled[key] === undefined) {
      records.push({ key, bytes: writeStored(recalled), position: null })
    }
    sent.pass(key, result, { rewrite: rewritten, sent: sum, isRecalled: isUsable })
    counted?.pass(result, rewritten, recalled !== null)
    const { literal, markers: named } = rewritten
    const isNew = recalled === null && 'response' in rewritten
    seen.push({ result, literal, markers: named, isNew, isKnown: recalled !== null })
    if (recalled === null && 'response' in rewritten) {
      fresh = withResult(fresh, rewritten.tokens)
      responses.push({ ...reportOf(key, rewritten), ...counted?.last(rewritten.tokens) })
    }
  }
  if (!sent.stepAtEnd(options.makesMarkers)) isChanged = true
  const steered = steerRequest(scanned, levers, context)
  for (const item of steered.records) records.push(item)
  const finished = sent.finish(terms?.restores === true)
  const told = withComingBack(responses, seen, retrievingTools, context.telemetry)
  return {
    ...finished,
    records,
    isChanged,
    late,
    lookAlikes,
    hostBlocks,
    fresh,
    responses: told,
    steered,
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
