import { hash } from 'node:crypto'
import type { ReadLimits } from '../messages/read-json.ts'
import { type RouteName, scanRequest } from '../messages/scan-request.ts'
import { type Replacement, splice } from '../messages/splice.ts'
import type { ToolResultText } from '../messages/tool-result-text.ts'
import type { OperationContext, RewriteReport } from '../operations/operation.ts'
import type { MessageText } from './message-texts.ts'
import { isRedeeming } from './redeeming-tools.ts'
import type { CachedRewrite } from './rewrite-cache.ts'
import { type Counting, rewriteLossless } from './rewrite-text.ts'

/** A request body, and what was done to it. */
export interface RewrittenRequest extends RewriteReport {
  /** The very body where nothing changes. */
  readonly bytes: Uint8Array
}

/**
 * Writes the tool results of a request body smaller, each without loss and by itself: what stands for one depends on its text,
 * its call, the model and the configuration. So the bytes of a conversation that goes on begin as they did before, and the
 * provider's prompt cache finds them, whatever process wrote them. Every other byte stays.
 */
export function rewriteRequest(
  body: Uint8Array,
  route: RouteName,
  limits: ReadLimits,
  context: OperationContext,
): RewrittenRequest {
  const scanned = scanRequest(body, route, limits)
  if (scanned === null) {
    return { bytes: body, readable: false, texts: 0, rewritten: 0, tokens_saved: 0 }
  }
  const { model, results } = scanned
  const counting: Counting = model === undefined ? {} : { model }
  const replacements: Replacement[] = []
  let saved = 0
  for (const result of results) {
    if (isRedeeming(result.tool)) continue
    const { text, tokensSaved } = rewrite(body, result, counting, context)
    if (text === null) continue
    saved += tokensSaved
    replacements.push({ start: result.start, end: result.end, text })
  }
  return {
    bytes: splice(body, replacements),
    readable: true,
    texts: results.length,
    rewritten: replacements.length,
    tokens_saved: saved,
  }
}

/** From what the thread has written lately, where it is there. */
function rewrite(
  body: Uint8Array,
  result: ToolResultText,
  counting: Counting,
  context: OperationContext,
): CachedRewrite {
  const key = keyOf(body, result, counting)
  const known = context.rewrites?.get(key)
  if (known !== undefined) return known
  const { answer } = rewriteLossless(sourceOf(result), counting, context)
  const tokensSaved = answer.tokens.baseline - answer.tokens.final
  const made = { text: tokensSaved > 0 ? answer.content : null, tokensSaved }
  context.rewrites?.set(key, made)
  return made
}

/** Names all that a lossless text depends on, within one configuration; the text by the bytes that it is spelled in. */
function keyOf(
  body: Uint8Array,
  { start, end, tool, isError }: ToolResultText,
  { model }: Counting,
) {
  const literal = hash('sha256', body.subarray(start, end), 'base64')
  return JSON.stringify([model, tool, isError, literal])
}

function sourceOf(result: ToolResultText): MessageText {
  const { tool, isError } = result
  const args = result.args()
  const call = {
    ...(tool === undefined ? {} : { tool }),
    ...(args === undefined ? {} : { args }),
  }
  return { text: result.text(), from: 'tool', call, isError }
}
