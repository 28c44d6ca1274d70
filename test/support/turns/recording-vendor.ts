import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A vendor that keeps the exact bytes of each request until they are taken. */
export interface RecordingVendor {
  readonly url: string
  /** What arrived whole under this name; `undefined` if nothing did. */
  take(attempt: string): Uint8Array | undefined
  /** Resolves once so many requests have arrived whole since the start. */
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

/** A client's header with the name of its attempt, which proxies pass on. */
export const ATTEMPT_HEADER = 'x-attempt'

const ANSWER = JSON.stringify({ type: 'message', content: [] })

export async function startRecordingVendor(): Promise<RecordingVendor> {
  const bodies = new Map<string, Uint8Array>()
  const arrivals = new EventEmitter()
  let total = 0
  const server = createServer((incoming, response) => {
    buffer(incoming).then(
      body => {
        bodies.set(String(incoming.headers[ATTEMPT_HEADER]), body)
        total++
        arrivals.emit('one')
        response.writeHead(200, {
          'content-type': 'application/json',
          'content-length': ANSWER.length,
        })
        response.end(ANSWER)
      },
      // Its sender was ended on the way.
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take(attempt) {
      const body = bodies.get(attempt)
      bodies.delete(attempt)
      return body
    },
    async arrived(count) {
      while (total < count) await once(arrivals, 'one')
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
