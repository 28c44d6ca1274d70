import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request as the upstream got it. */
export interface Recorded {
  readonly line: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export type Answer = (response: ServerResponse, request: Recorded) => void

/** A vendor that records what it is sent; one for all tests of a file. */
export interface RecordingUpstream {
  readonly url: string
  /** Since the last `answerWith`. */
  readonly requests: readonly Recorded[]
  /** Forgets the requests, and answers the next ones so. */
  answerWith(answer: Answer): void
  last(): Recorded
  close(): Promise<void>
}

export const answerOk: Answer = response => {
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_1' })
  response.end('{"ok": true}')
}

export async function recordingUpstream(): Promise<RecordingUpstream> {
  const requests: Recorded[] = []
  let answer = answerOk
  const server = createServer(async (incoming, response) => {
    const { method, url, rawHeaders } = incoming
    const request = { line: `${method} ${url}`, rawHeaders, body: await buffer(incoming) }
    requests.push(request)
    answer(response, request)
  })
  server.on('upgrade', (incoming, socket, head) => {
    requests.push({ line: `UPGRADE ${incoming.url}`, rawHeaders: incoming.rawHeaders, body: head })
    socket.on('error', () => socket.destroy())
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith(next) {
      requests.length = 0
      answer = next
    },
    last() {
      const request = requests.at(-1)
      if (request === undefined) throw new Error('the upstream was sent nothing')
      return request
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
