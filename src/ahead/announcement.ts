import { isJsonObject, type ToolCall, writeToolCall } from '../core/hints/tool-call.ts'
import type { PrefetchBatch, ScopedCall } from './prefetch.ts'

/** Names the results of a batch that are there; `null` if there are none. */
export function announcementOf({ landed }: PrefetchBatch): string | null {
  return landed.length === 0 ? null : `> [prefetched: ${landed.map(write).join(', ')}]`
}

function write({ tool, args }: ScopedCall): string {
  const parsed: unknown = JSON.parse(args)
  const call: ToolCall = { name: tool, args: isJsonObject(parsed) ? parsed : {} }
  return writeToolCall(call)
}
