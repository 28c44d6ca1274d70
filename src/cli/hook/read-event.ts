import type { Readable } from 'node:stream'
import { GrownBytes } from '../../core/base/grown-bytes.ts'

/** Longest event that is read. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024

/**
 * What an agent writes to a command that it calls, until `signal` ends the wait.
 * @throws Error if it comes too late, is too long or is not UTF-8
 */
export async function readEvent(input: Readable, signal: AbortSignal): Promise<string> {
  const stop = () => input.destroy(new Error('the event did not come in time'))
  signal.addEventListener('abort', stop)
  try {
    const event = new GrownBytes(MAX_EVENT_BYTES)
    for await (const chunk of input as AsyncIterable<Buffer>) {
      if (!event.add(chunk)) throw new Error('the event is too long')
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(event.bytes)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
