import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Channel } from './exchange.ts'

/** Answers one JSON body, or a stream if a message comes before the last. */
export function createHttpChannel(response: ServerResponse): Channel {
  const head = (type: string) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': type })
  }
  const open = () => {
    response.setHeader('content-type', 'text/event-stream')
    response.flushHeaders()
  }
  const isStream = () => response.getHeader('content-type') === 'text/event-stream'
  return {
    gone: once(response, 'close').then(() => undefined),
    header: (name, value) => void response.setHeader(name, value),
    open,
    message(json, last) {
      if (!last && !response.headersSent) open()
      if (!isStream()) {
        head('application/json')
        response.end(json)
        return
      }
      response.write(`event: message\ndata: ${json}\n\n`)
      if (last) response.end()
    },
    raw(bytes) {
      head('application/json')
      response.write(bytes)
    },
    end: () => void response.end(),
    die: () => void response.socket?.destroy(),
    status: (status, headers = {}) => void response.writeHead(status, headers).end(),
  }
}
