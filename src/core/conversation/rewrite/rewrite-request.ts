import type { FreshRecord, RewriteReport } from '../../contract/operation-result.ts'
import type { RouteName } from '../../dialects/lookup.ts'
import type { ReadLimits } from '../../json/bytes/read-json.ts'
import { type Replacement, splice } from '../../json/bytes/splice.ts'
import type { ReadingLevel } from '../../reading/constructs.ts'
import { conversationName } from '../parse/conversation-name.ts'
import { newFrom } from '../parse/last-turn.ts'
import { type ScannedRequest, scanRequest } from '../parse/scan-request.ts'
import { definitionsReport } from '../prefix/definitions-report.ts'
import { leversOf } from '../prefix/levers.ts'
import { pingPlaces } from '../prefix/ping-places.ts'
import { printOf, type SentPrompt } from '../print/prompt-print.ts'
import { tokensOfTool } from '../retrieve/retrieve-tool.ts'
import { appendAt, wholeRequest } from '../retrieve/whole-request.ts'
import { isLeftAlone, nameResults } from './named-results.ts'
import type { NewResult } from './new-result.ts'
import { createResultKeys } from './result-keys.ts'
import { type Promised, ResultsRewrite } from './results-rewrite.ts'
import type { ConversationContext } from './rewrite-context.ts'
import { recall } from './rewrite-result.ts'
import { type SavedTokens, savedPlaces, storedFact, writeStored } from './stored-rewrite.ts'
import { armOf, type RequestArm } from './unit-arm.ts'

/** A rewritten request body, with a report. */
export interface RewrittenRequest extends Promised {
  /** The very body if nothing changes. */
  readonly bytes: Uint8Array
  readonly report: RewriteReport
  /** New results. */
  readonly responses: readonly NewResult[]
}

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
  const results = new ResultsRewrite(scanned, known, kept.context).run()
  const { replacements, savings, isChanged, late, lookAlikes, hostBlocks, fresh } = results
  const records = [kept.record ?? [], results.records, whole.questions].flat()
  const changes = inOrder([...replacements, ...results.steered.replacements])
  const bytes = splice(whole.bytes, changes)
  const { definitions, isChanged: isListChanged } = definitionsReport(scanned, levers, {
    deferred: results.steered.deferred,
    context: kept.context,
  })
  const sum = (kind: keyof SavedTokens) => savings.reduce((all, { saved }) => all + saved[kind], 0)
  const [referred, elided] = [sum('referred'), sum('elided')]
  const report: RewriteReport = {
    readable: true,
    texts: scanned.results.length,
    rewritten: replacements.length,
    tokens_saved: referred + sum('encoded') + elided,
    tokens_referred: referred,
    tokens_elided: elided,
    prefix_changed: isChanged || isListChanged || (redeeming?.changed ?? 0) > 0,
    ...(fresh === null ? {} : { fresh }),
    ...(late === 0 ? {} : { late }),
    ...(lookAlikes === 0 ? {} : { look_alikes: lookAlikes }),
    ...(hostBlocks.blocks === 0 ? {} : { host_blocks: hostBlocks }),
    conversation,
    ...modelOf(scanned),
    ...change,
    ...print(results),
    ...pingOf(scanned, levers, changes, kept.context),
    ...(results.steered.levers.length > 0 && { levers: results.steered.levers }),
    ...(scanned.continues === undefined ? {} : { continues: scanned.continues }),
    ...(redeeming && { redeeming: { ...redeeming, ...appendAt(scanned, changes) } }),
    ...(definitions && { definitions }),
    saved: savedPlaces(
      scanned,
      savings,
      tokensOfTool(levers, scanned, kept.context) - (definitions?.deferred ?? 0),
    ),
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

/** What a ping needs of it, if one may be sent. */
function pingOf(...of: Parameters<typeof pingPlaces>): Pick<RewriteReport, 'ping'> {
  const ping = pingPlaces(...of)
  return ping === undefined ? {} : { ping }
}

/** What changed before the conversation. */
function headChange(
  scanned: ScannedRequest,
  { rewrites, terms }: ConversationContext,
): Pick<RewriteReport, 'head_change'> {
  const isLeaving = terms?.beside === undefined
  if (rewrites?.heads === undefined || !isLeaving) return {}
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

/** The configuration that a conversation keeps, with the level that its first request asked for. */
type KeptGeneration =
  | {
      /** The context with that configuration. */
      readonly context: ConversationContext
      /** Present if the conversation begins with it, or if its record may be lost. */
      readonly record?: FreshRecord
    }
  /** The thread does not have it. */
  | { readonly missing: string }

/**
 * A conversation keeps the configuration and the reading level that it began with. So a result that
 * must be written once more is written as it was, and a prompt cache still finds its prefix. They
 * are recorded under the first result, by its call and text alone. After a compaction another
 * result is the first, and the conversation takes the newest configuration, and the level of that
 * request.
 */
function keptGeneration(
  scanned: Pick<ScannedRequest, 'body' | 'results' | 'messages'>,
  context: ConversationContext,
): KeptGeneration {
  const { body, results } = scanned
  const { generations, rewrites } = context
  const first = results[0]
  if (generations === undefined || rewrites === undefined || first === undefined) return { context }
  const key = createResultKeys(body, JSON.stringify([rewrites.tenant, 'generation'])).next(first)
  const recordOf = (generation: string, reading: ReadingLevel | undefined) =>
    writeStored(storedFact({ generation, ...(reading && { reading }) }))
  const { generation: id, reading } = recall(key, context) ?? {}
  if (id !== undefined) {
    const pipeline = generations.find(id)
    const isLost = context.terms?.recordsAgain === true && rewrites.recalled[key] === undefined
    const again = { key, bytes: recordOf(id, reading), position: null, generation: id }
    const keeping = withReading(context, reading)
    if (pipeline !== null)
      return { context: { ...keeping, pipeline }, ...(isLost && { record: again }) }
    // Nothing has it any more: another one is better than none.
    return generations.isLost(id) ? { context: keeping } : { missing: id }
  }
  const bytes = recordOf(generations.newest, context.reading)
  const position = rewrites.memory.place(key, bytes)
  const isEarlier = newFrom(scanned) > 0 && { isEarlier: true as const }
  return { context, record: { key, bytes, position, generation: generations.newest, ...isEarlier } }
}

/** The context with a level in place of the one that this request asks for. */
function withReading(
  { reading: _, ...others }: ConversationContext,
  reading: ReadingLevel | undefined,
): ConversationContext {
  return reading === undefined ? others : { ...others, reading }
}
