import type { ResultArm } from '../../arms/sums.ts'
import type { EncodeAnswer } from '../../contract/encode.ts'
import type { HostBlockCount, KeepItem, Report } from '../../contract/operation-result.ts'
import type { ResponseBudget } from '../../contract/response-budget.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { literalOf } from '../../json/bytes/splice.ts'
import { endpointClass } from '../../telemetry/endpoint-class.ts'
import type { History } from './history.ts'
import type { MessageText } from './message-texts.ts'
import type { ConversationContext } from './rewrite-context.ts'
import { type Counting, rewriteByItself } from './rewrite-text.ts'
import { noteOf, type SentNotes } from './sent-notes.ts'
import { digestOf, NOTHING_SAVED, readStored, type StoredRewrite } from './stored-rewrite.ts'

/** How the result was sent before, if this thread or the record has it. */
export function recall(key: string, { rewrites }: ConversationContext): StoredRewrite | null {
  if (rewrites === undefined) return null
  const recalled = rewrites.recalled[key]
  return recalled === undefined ? rewrites.memory.get(key) : readStored(recalled)
}

/** How results are written that come for the first time. */
export interface RewriteOptions {
  readonly counting: Counting
  readonly history: History | undefined
  /** How those before it were sent. */
  readonly notes: SentNotes
  /** Whether markers may be in the request: those that were recorded, at least. */
  readonly mayElide: boolean
  /** Whether markers may be made that were not recorded. */
  readonly makesMarkers: boolean
  /** The host's wish for results that come for the first time. */
  readonly responseBudget: ResponseBudget | undefined
  /** Draws arms for results that would be elided; absent: there are none. */
  readonly draw?: DrawResult | undefined
}

/** Draws the arm of a result by its name. */
export interface DrawResult {
  readonly share: number
  isWhole(key: string): boolean
}

/** The same for one result. */
interface ResultOptions extends RewriteOptions {
  /** Whether it is an original that was fetched back. */
  readonly isOriginal: boolean
  /** Tokens of the conversation before it; absent if no level follows from them. */
  readonly contextTokens: number | undefined
}

/** How a result was written, with its account. */
export interface NewRewrite extends Omit<StoredRewrite, 'sent'> {
  readonly keep: readonly KeepItem[]
  readonly lookAlikes: number
  /** What the host says in it. */
  readonly hostBlocks?: HostBlockCount | undefined
  /** Its account. */
  readonly told: Pick<Report, 'row' | 'texts' | 'only'>
  /** Tokens of the result and of what was written for it. */
  readonly tokens: EncodeAnswer['tokens']
}

/** A result that stays as it is, now and in later turns, because there is no time to write it. */
export const AS_IT_CAME = {
  literal: null,
  saved: NOTHING_SAVED,
  isSource: false,
  markers: [],
  digest: 0,
  keep: [],
} as const satisfies Omit<StoredRewrite, 'sent'> & { readonly keep: readonly KeepItem[] }

/** Writes a result that is sent for the first time. */
export function rewrite(
  key: string,
  result: ToolResultText,
  options: ResultOptions,
  context: ConversationContext,
): NewRewrite {
  const elided = writeOnce(key, result, options, context)
  const { draw } = options
  const direct = elided.saved.elided
  if (draw === undefined || elided.markers.length === 0 || direct <= 0) return elided
  const isWhole = draw.isWhole(key)
  const arm: ResultArm = {
    class: endpointClass(result.tool, result.args()),
    isWhole,
    direct,
    share: draw.share,
  }
  const sent = isWhole
    ? writeOnce(key, result, { ...options, makesMarkers: false }, context)
    : elided
  return { ...sent, arm }
}

function writeOnce(
  key: string,
  result: ToolResultText,
  {
    counting,
    history,
    notes,
    makesMarkers,
    responseBudget,
    isOriginal,
    contextTokens,
  }: ResultOptions,
  context: ConversationContext,
): NewRewrite {
  const turn = isOriginal ? undefined : history?.open(key, result)
  const openLayer = notes.layer(result, turn?.layer)
  const terms = { openLayer, mayElide: makesMarkers, responseBudget, isOriginal, contextTokens }
  const source = sourceOf(result)
  const { answer, keep = [], reports } = rewriteByItself(source, counting, context, terms)
  const { host_blocks: hostBlocks, op: _, look_alikes: __, ...told } = reports[0] ?? { op: '' }
  const { savings, elided, tokens, look_alikes: lookAlikes = 0 } = answer
  const written = turn?.written() ?? { isSource: false }
  // Nothing is saved if only look-alikes of hints were escaped.
  if (answer.content === source.text) {
    const none = { literal: null, saved: NOTHING_SAVED, markers: [], digest: 0, keep: [] }
    return {
      ...none,
      ...written,
      ...noteOf(answer),
      lookAlikes,
      hostBlocks,
      told,
      tokens,
    }
  }
  const literal = literalOf(answer.content)
  return {
    told,
    tokens,
    literal,
    saved: {
      referred: savings.dedup_tokens,
      encoded: savings.encoder_tokens,
      elided: savings.elided_tokens,
    },
    ...written,
    ...noteOf(answer),
    lookAlikes,
    hostBlocks,
    markers: elided.map(({ hash }) => hash),
    digest: digestOf(literal),
    keep,
  }
}

/** The text of a result, with the call that it answers. */
export function sourceOf(result: ToolResultText): MessageText {
  const { tool, callId, isError } = result
  const args = result.args()
  const call = {
    ...(tool === undefined ? {} : { tool }),
    ...(args === undefined ? {} : { args }),
  }
  return { text: result.text(), from: 'tool', call, callId, isError }
}
