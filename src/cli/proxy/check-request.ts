import { scanRequest } from '../../core/conversation/parse/scan-request.ts'
import { createHistoryMemory } from '../../core/conversation/rewrite/history.ts'
import type { RewriteMemory } from '../../core/conversation/rewrite/rewrite-memory.ts'
import { sourceOf } from '../../core/conversation/rewrite/rewrite-result.ts'
import { rewriteLossless } from '../../core/conversation/rewrite/rewrite-text.ts'
import type { Fields } from '../../core/dialects/bodies/route.ts'
import type { ToolResultText } from '../../core/dialects/bodies/tool-result-text.ts'
import { bodyRules, ROUTE_NAMES, type RouteName } from '../../core/dialects/lookup.ts'
import { parseHint } from '../../core/hints/hint-line.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import { rewriteRequestOperation } from '../../core/operations/rewrite-request.ts'
import { DEFAULT_PIPELINE } from '../../core/pipeline/profile/default-pipeline.ts'
import { isRetrieving } from '../../core/pipeline/profile/retrieving-tools.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'

/** Why a body is forwarded unchanged. */
export type Untouched = 'compression is off' | 'above 32 MiB'

/** What the proxies would do with one text of a tool result. */
export interface CheckedText {
  /** Its place, counted from 0. */
  readonly message: number
  readonly block: number
  readonly part: number
  readonly tool: string | null
  readonly call_id: string | null
  readonly is_error: boolean
  /** Whether it is at or before a breakpoint of the prompt cache. */
  readonly cached_prefix: boolean
  readonly tokens_before: number
  readonly tokens_after: number
  /** Why it stays unchanged; `null` if it changes. */
  readonly kept: 'redeeming tool' | 'no gain' | Untouched | null
  /**
   * The format that it is written in, or the family of the hint by which it refers to earlier
   * results; `null` if it stays.
   */
  readonly format: string | null
  /** As it would be forwarded. */
  readonly text: string
}

/** What the proxies would do with a request. */
export interface CheckedRequest {
  readonly model: string | null
  /** The tokenizer that counted. */
  readonly tokenizer: string
  readonly exact: boolean
  readonly texts: readonly CheckedText[]
  /** Results that programs get instead of the model, which stay unchanged. */
  readonly program_results: readonly Pick<CheckedText, 'message' | 'block' | 'tool' | 'call_id'>[]
  readonly tokens_saved: number
  readonly bytes_before: number
  readonly bytes_after: number
  /** Whether it would be forwarded byte for byte. */
  readonly unchanged: boolean
}

/** No stored rewrites: the conversation counts as new. */
const NO_MEMORY: RewriteMemory = { get: () => null, place: () => null, confirm: () => {} }

/**
 * Runs the proxies' own operation on a request body, and compares its output with its input. There
 * are no records of the conversation here. A proxy that has sent it before would send its results
 * as before. @param untouched why the operation would not be run
 * @returns `null` if the body is no request of that endpoint that the proxies read
 */
export function checkRequest(
  body: Uint8Array,
  route: RouteName,
  context: OperationContext,
  untouched: Untouched | null = null,
): CheckedRequest | null {
  const limits = { maxBytes: body.length, maxDepth: context.maxDepth, maxValues: Infinity }
  const before = scanRequest(body, route, limits)
  const rewrites = {
    tenant: '',
    memory: NO_MEMORY,
    history: createHistoryMemory(1),
    recalled: {},
  }
  const { bytes, reports } = rewriteRequestOperation(route).run(body, { ...context, rewrites })
  const report = reports[0]?.rewrite
  if (before === null || report?.readable !== true) return null
  const after = untouched === null && bytes !== null ? bytes : body
  // Literals were replaced by literals, so the same results are there, in the same order.
  const results = scanRequest(after, route, { ...limits, maxBytes: after.length })?.results
  const { model } = before
  const counter = context.counters.get(resolveTokenizer({ model }))
  const texts = before.results.map((result, index) => {
    const text = results?.[index]?.text() ?? ''
    const isKept = text === result.text()
    return {
      ...placeOf(result),
      tokens_before: counter.count(result.text()),
      tokens_after: counter.count(text),
      kept: isKept ? (untouched ?? reasonOf(result, context)) : null,
      format: isKept ? null : formatOf(text, result, model, context),
      text,
    }
  })
  return {
    model: model ?? null,
    tokenizer: counter.id,
    exact: counter.exact,
    texts,
    program_results: before.forPrograms.map(({ message, block, tool, callId }) => ({
      message,
      block,
      tool: tool ?? null,
      call_id: callId ?? null,
    })),
    tokens_saved: untouched === null ? report.tokens_saved : 0,
    bytes_before: body.length,
    bytes_after: after.length,
    unchanged: after === body,
  }
}

function placeOf({ message, block, part, tool, callId, isError, inCachedPrefix }: ToolResultText) {
  return {
    message,
    block,
    part,
    tool: tool ?? null,
    call_id: callId ?? null,
    is_error: isError,
    cached_prefix: inCachedPrefix,
  }
}

function reasonOf({ tool }: ToolResultText, { pipeline }: OperationContext): CheckedText['kept'] {
  const { redeem_tools } = (pipeline ?? DEFAULT_PIPELINE).elision
  return isRetrieving(tool, redeem_tools) ? 'redeeming tool' : 'no gain'
}

/**
 * The format of the text: that of the result when encoded alone, or the family of the hint that
 * refers to other results.
 */
function formatOf(
  text: string,
  result: ToolResultText,
  model: string | undefined,
  context: OperationContext,
): string | null {
  const counting = model === undefined ? {} : { model }
  const { answer } = rewriteLossless(sourceOf(result), counting, context)
  if (answer.content === text) return answer.format
  const [hint] = text.split('\n').flatMap(line => parseHint(line) ?? [])
  return hint?.family ?? null
}

interface Guess {
  readonly route: RouteName
  /** What distinguishes it from the others. */
  readonly sign: string
}

/**
 * The endpoint that a request body is for; `null` if there is no sign, or signs contradict each
 * other.
 */
export function guessRoute(body: unknown): Guess | null {
  if (!isFields(body)) return null
  const messages = fieldsIn(body['messages'])
  const blocks = messages.flatMap(({ content }) => fieldsIn(content))
  const request = { body, messages, blocks, tools: fieldsIn(body['tools']) }
  const found = ROUTE_NAMES.flatMap(route => {
    const sign = bodyRules(route).signs.find(([, holds]) => holds(request))?.[0]
    return sign === undefined ? [] : [{ route, sign }]
  })
  return found.length === 1 ? found[0]! : null
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : []
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
