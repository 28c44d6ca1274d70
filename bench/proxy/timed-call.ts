import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

/** Kept connections for one call at a time to each server. */
export const agent = new Agent({ keepAlive: true })

/**
 * Sends a body, and reads the answer to its end. Returns what that took, in milliseconds. A connection that the server had closed meanwhile is
 * replaced by a new one. Throws for any status but 200.
 */
export async function timedCall(
  url: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string | number>> = {},
): Promise<number> {
  const started = performance.now()
  const outgoing = request(url, {
    method: 'POST',
    agent,
    headers: { 'content-length': body.length, ...headers },
  })
  outgoing.end(body)
  let answer: IncomingMessage
  try {
    ;[answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  } catch (error) {
    if (!outgoing.reusedSocket) throw error
    return await timedCall(url, body, headers)
  }
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
  answer.resume()
  await once(answer, 'end')
  return performance.now() - started
}
