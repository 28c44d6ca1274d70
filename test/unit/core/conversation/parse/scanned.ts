import {
  type ScannedRequest,
  scanRequest,
} from '../../../../../src/core/conversation/parse/scan-request.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'

export const LIMITS = { maxBytes: 1 << 20, maxDepth: 32, maxValues: 10_000 }

/** What is found in a body, which is text or a value. */
export function scanned(route: RouteName, body: unknown): ScannedRequest | null {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return scanRequest(new TextEncoder().encode(text), route, LIMITS)
}

/** The texts found, for short. */
export function texts(route: RouteName, body: unknown): readonly string[] | null {
  return scanned(route, body)?.results.map(each => each.text()) ?? null
}

/** A request to `/v1/messages` with these blocks in a user's message. */
export function userBlocks(...content: readonly unknown[]): object {
  return { model: 'm', messages: [{ role: 'user', content }] }
}

/** A block that is found, if nothing else is the matter with it. */
export function toolResult(content: unknown, more: object = {}): object {
  return { type: 'tool_result', tool_use_id: 't1', content, ...more }
}
