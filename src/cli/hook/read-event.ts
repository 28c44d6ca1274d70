import type { Readable } from 'node:stream'

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
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of input as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_EVENT_BYTES) throw new Error('the event is too long')
      chunks.push(chunk)
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
