import type { RouteName } from '../core/messages/scan-request.ts'
import { MEDIA_TYPES } from '../core/requests/envelope.ts'
import { type AppContext, requestHeader } from './context.ts'
import { essence } from './media.ts'

/** Counts tokens of a request, and uses none. */
const COUNTING = '/v1/messages/count_tokens'

/** Paths end so whose bodies are conversations, behind whatever a gateway puts before them. */
const ENDINGS: readonly (readonly [string, RouteName])[] = [
  ['/v1/messages', 'anthropic_messages'],
  [COUNTING, 'anthropic_messages'],
  ['/v1/chat/completions', 'openai_chat'],
  ['/v1/responses', 'openai_responses'],
]

/** The shape of a request's body, by its path behind the prefix; `null` where it has none that can be rewritten. */
export function rewritableAs(c: AppContext, path: string): RouteName | null {
  if (c.req.method !== 'POST') return null
  const shape = shapeOf(pathOnly(path))
  if (shape === null || essence(requestHeader(c, 'content-type') ?? '') !== MEDIA_TYPES.json) {
    return null
  }
  const transfer = requestHeader(c, 'transfer-encoding') ?? 'chunked'
  const isPlain = requestHeader(c, 'content-encoding') === undefined
  return isPlain && transfer.toLowerCase() === 'chunked' ? shape : null
}

/** The shape of a request that the vendor bills, by its path behind the prefix; `null` where its answer says nothing of usage. */
export function billedAs(c: AppContext, path: string): RouteName | null {
  const plain = pathOnly(path)
  return c.req.method === 'POST' && !plain.endsWith(COUNTING) ? shapeOf(plain) : null
}

function shapeOf(plain: string): RouteName | null {
  return ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1] ?? null
}

function pathOnly(path: string): string {
  return path.split('?', 1)[0] as string
}
