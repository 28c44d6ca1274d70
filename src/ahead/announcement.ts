import { isJsonObject, type ToolCall, writeToolCall } from '../core/hints/tool-call.ts'
import type { PrefetchBatch, ScopedCall } from './prefetch.ts'

/**
 * Waits until a batch has ended, at most for a time, and names what is there. The fetches go on
 * after that. Returns `null` if nothing is there in time.
 * @param wait resolves after so many milliseconds, or ends in any way when `signal` is aborted
 */
export async function announce(
  { started, landed, ended }: PrefetchBatch,
  timeoutMs: number,
  wait: (ms: number, signal: AbortSignal) => Promise<void>,
): Promise<string | null> {
  if (started.length === 0) return null
  const timer = new AbortController()
  await Promise.race([ended, wait(timeoutMs, timer.signal).catch(() => undefined)])
  timer.abort()
  return landed.length === 0 ? null : `> [prefetched: ${landed.map(write).join(', ')}]`
}

function write({ tool, args }: ScopedCall): string {
  const parsed: unknown = JSON.parse(args)
  const call: ToolCall = { name: tool, args: isJsonObject(parsed) ? parsed : {} }
  return writeToolCall(call)
}
