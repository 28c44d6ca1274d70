import { toBytes } from '../../base/text-bytes.ts'
import type { EncodeAnswer } from '../../contract/encode.ts'
import type {
  ByteAnswer,
  FreshRecord,
  FreshResults,
  KeepItem,
  RewriteReport,
} from '../../contract/operation-result.ts'
import type { ResponseBudget } from '../../contract/response-budget.ts'
import { findLookAlikes } from '../../hints/look-alikes.ts'
import type { ReadLimits } from '../../json/bytes/read-json.ts'
import { literalOf, type Replacement, splice } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/pipeline-config.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { inConversation } from '../../telemetry/pseudonyms.ts'
import { conversationName } from '../parse/conversation-name.ts'
import { type RouteName, type ScannedRequest, scanRequest } from '../parse/scan-request.ts'
import type { ToolResultText } from '../parse/tool-result-text.ts'
import { ContextSize } from './context-size.ts'
import type { History } from './history.ts'
import type { MessageText } from './message-texts.ts'
import { createResultKeys } from './result-keys.ts'
import type { ConversationContext } from './rewrite-context.ts'
import { type Counting, rewriteByItself } from './rewrite-text.ts'
import {
  digestOf,
  NOTHING_SAVED,
  readStored,
  type SavedTokens,
  type Saving,
  type StoredRewrite,
  savedPlaces,
  sumOfSent,
  writeStored,
} from './stored-rewrite.ts'
import type { TurnMemory } from './turn-memory.ts'

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
  const scanned = (turns?.scan ?? scanRequest)(body, route, limits)
  if (scanned === null) {
    const report = { readable: false, texts: 0, rewritten: 0, tokens_saved: 0 }
    return { bytes: body, report, responses: [], records: [], keep: [], markers: [] }
  }
  const conversation = conversationName(scanned)
  const results = rewriteResults(scanned, named(conversation, context))
  const { replacements, savings, isChanged, lookAlikes, fresh, responses, ...promised } = results
  const bytes = splice(body, replacements)
  const sum = (kind: keyof SavedTokens) => savings.reduce((all, { saved }) => all + saved[kind], 0)
  const [referred, elided] = [sum('referred'), sum('elided')]
  const report: RewriteReport = {
    readable: true,
    texts: scanned.results.length,
    rewritten: replacements.length,
    tokens_saved: referred + sum('encoded') + elided,
    tokens_referred: referred,
    tokens_elided: elided,
    prefix_changed: isChanged,
    ...(fresh === null ? {} : { fresh }),
    ...(lookAlikes === 0 ? {} : { look_alikes: lookAlikes }),
    conversation,
    saved: savedPlaces(scanned, savings),
  }
  return { bytes, report, responses, ...promised }
}

/** The rewritten results of a conversation. */
interface RewrittenResults extends Promised {
  readonly replacements: readonly Replacement[]
  readonly savings: readonly Saving[]
  /**
   * Whether a result that was sent before now follows other texts, or is written in another way.
   */
  readonly isChanged: boolean
  /** Results that came for the first time; `null` if there are none. */
  readonly fresh: FreshResults | null
  /** Places that look like hints and were escaped, in results that came for the first time. */
  readonly lookAlikes: number
  /** Of results that came for the first time. */
  readonly responses: readonly NewResult[]
}

/** The telemetry record of a result, and its key. */
export interface NewResult {
  readonly response: () => string
  readonly recordKey: string
}

/** The context with the conversation's name for telemetry, if there is one. */
function named(conversation: string, context: ConversationContext): ConversationContext {
  const { telemetry } = context
  if (telemetry === undefined) return context
  return { ...context, telemetry: inConversation(telemetry, `conversation ${conversation}`) }
}

function rewriteResults(scanned: ScannedRequest, context: ConversationContext): RewrittenResults {
  const { results, forgets, tools } = scanned
  const { rewrites, terms, pipeline = DEFAULT_PIPELINE } = context
  const { model = terms?.model } = scanned
  const { redeem_tools: retrievingTools, own_tools: ownTools = tools } = pipeline.elision
  // Another gateway's tool of the same name fetches from a store that has none of our originals.
  const canRetrieve = tools.some(
    tool => isRetrieving(tool, retrievingTools) && ownTools.includes(tool),
  )
  const options = {
    counting: model === undefined ? {} : { model },
    history: forgets ? undefined : rewrites?.history?.begin(),
    // If the provider forgets results, the agent may have lost the text that names how to ask.
    mayElide: canRetrieve && terms?.redeems === true,
    responseBudget: terms?.responseBudget,
  }
  const size = pipeline.views.pressure.length === 0 ? null : new ContextSize(scanned)
  const names = nameResults(
    scanned,
    JSON.stringify([rewrites?.tenant, model, forgets, canRetrieve]),
    rewrites?.turns,
  )
  const replacements: Replacement[] = []
  const savings: Saving[] = []
  const records: FreshRecord[] = []
  const keep: KeepItem[] = []
  const markers: string[] = []
  const responses: NewResult[] = []
  let fresh: FreshResults | null = null
  let lookAlikes = 0
  let sum = 0
  let isChanged = false
  for (const [index, result] of results.entries()) {
    const key = names[index]!
    const isOriginal = isRetrieving(result.tool, retrievingTools)
    if (isLeftAlone(result, isOriginal)) {
      options.history?.add(key, result, { isSource: false })
      continue
    }
    const recalled = recall(key, context)
    // A changed prefix is better than a marker for an original that may be gone.
    const isUsable = recalled !== null && (options.mayElide || recalled.markers.length === 0)
    const rewritten = isUsable
      ? { ...recalled, keep: [] }
      : rewrite(
          key,
          result,
          { ...options, isOriginal, contextTokens: size?.tokensBefore(result) },
          context,
        )
    if ('lookAlikes' in rewritten) lookAlikes += rewritten.lookAlikes
    options.history?.add(key, result, rewritten)
    sum = sumOfSent(sum, rewritten.digest)
    const differs = recalled !== null && !(isUsable && recalled.sent === sum)
    isChanged ||= differs
    if (recalled === null || differs) {
      const bytes = writeStored({ ...rewritten, sent: sum })
      const position = rewrites?.memory.place(key, bytes, differs) ?? null
      records.push({ key, bytes, position, ...(differs ? { replaces: true } : {}) })
    }
    if (isUsable && recalled.markers.length > 0 && terms?.restores === true) {
      keep.push(toBytes(result.text()))
    } else if (isUsable) markers.push(...recalled.markers)
    keep.push(...rewritten.keep)
    if (recalled === null && 'response' in rewritten) {
      fresh = withResult(fresh, rewritten.tokens)
      if (rewritten.response !== undefined) {
        responses.push({ response: rewritten.response, recordKey: key })
      }
    }
    const { literal, saved } = rewritten
    if (literal === null) continue
    const { start, end } = result
    size?.replaced(end - start, literal.length)
    replacements.push({ start, end, literal })
    savings.push({ end, shorter: end - start - literal.length, saved })
  }
  return { replacements, savings, records, keep, markers, isChanged, lookAlikes, fresh, responses }
}

/** All of one request are counted by one tokenizer. */
function withResult(
  fresh: FreshResults | null,
  { tokenizer, baseline, final }: EncodeAnswer['tokens'],
): FreshResults {
  const { count = 0, before = 0, after = 0 } = fresh ?? {}
  return { tokenizer, count: count + 1, before: before + baseline, after: after + final }
}

/** The name of each result. */
function nameResults(
  scanned: ScannedRequest,
  terms: string,
  turns: TurnMemory | undefined,
): readonly string[] {
  const { body, results } = scanned
  const known = turns?.knownKeys(scanned, terms) ?? []
  const keys = createResultKeys(body, terms)
  keys.resume(known)
  const names = [...known, ...results.slice(known.length).map(result => keys.next(result))]
  turns?.keep({ scanned, terms, keys: names })
  return names
}

/** No format saves a token of a shorter literal. */
const MIN_LITERAL_BYTES = 24

/** Such a result still must not look like a hint of ours. */
function isLeftAlone(result: ToolResultText, isOriginal: boolean): boolean {
  const isShort = result.end - result.start < MIN_LITERAL_BYTES
  return (isShort || isOriginal) && findLookAlikes(result.text()).length === 0
}

/** How the result was sent before, if this thread or the record has it. */
function recall(key: string, { rewrites }: ConversationContext): StoredRewrite | null {
  if (rewrites === undefined) return null
  const recalled = rewrites.recalled[key]
  return recalled === undefined ? rewrites.memory.get(key) : readStored(recalled)
}

/** How results are written that come for the first time. */
interface RewriteOptions {
  readonly counting: Counting
  readonly history: History | undefined
  readonly mayElide: boolean
  /** The host's wish for results that come for the first time. */
  readonly responseBudget: ResponseBudget | undefined
}

/** The same for one result. */
interface ResultOptions extends RewriteOptions {
  /** Whether it is an original that was fetched back. */
  readonly isOriginal: boolean
  /** Tokens of the conversation before it; absent if no level follows from them. */
  readonly contextTokens: number | undefined
}

/** How a result was written, with its telemetry record. */
interface NewRewrite extends Omit<StoredRewrite, 'sent'> {
  readonly keep: readonly KeepItem[]
  readonly lookAlikes: number
  readonly response: (() => string) | undefined
  /** Of the result and of what was written for it. */
  readonly tokens: EncodeAnswer['tokens']
}

/** Writes a result that is sent for the first time. */
function rewrite(
  key: string,
  result: ToolResultText,
  { counting, history, mayElide, responseBudget, isOriginal, contextTokens }: ResultOptions,
  context: ConversationContext,
): NewRewrite {
  const turn = isOriginal ? undefined : history?.open(key, result)
  const terms = { openLayer: turn?.layer, mayElide, responseBudget, isOriginal, contextTokens }
  const { answer, keep = [], reports } = rewriteByItself(sourceOf(result), counting, context, terms)
  const response = reports[0]?.response
  const { savings, elided, tokens, look_alikes: lookAlikes = 0 } = answer
  const written = turn?.written() ?? { isSource: false }
  // Nothing is saved if only look-alikes of hints were escaped.
  if (answer.content === result.text()) {
    const none = { literal: null, saved: NOTHING_SAVED, markers: [], digest: 0, keep: [] }
    return { ...none, ...written, lookAlikes, response, tokens }
  }
  const literal = literalOf(answer.content)
  return {
    response,
    tokens,
    literal,
    saved: {
      referred: savings.dedup_tokens,
      encoded: savings.encoder_tokens,
      elided: savings.elided_tokens,
    },
    ...written,
    lookAlikes,
    markers: elided.map(({ hash }) => hash),
    digest: digestOf(literal),
    keep,
  }
}

function sourceOf(result: ToolResultText): MessageText {
  const { tool, callId, isError } = result
  const args = result.args()
  const call = {
    ...(tool === undefined ? {} : { tool }),
    ...(args === undefined ? {} : { args }),
  }
  return { text: result.text(), from: 'tool', call, callId, isError }
}
