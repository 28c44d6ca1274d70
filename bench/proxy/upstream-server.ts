import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A vendor's API, which answers JSON of 1 KB; for requests with `x-events` as a stream of two. */
const answer = JSON.stringify({ text: 'x'.repeat(1000) })
const event = `data: ${answer}\n\n`

/** Bytes of the last request. */
let received = 0

const server = createServer((incoming, response) => {
  if (incoming.url === '/received') return void response.end(String(received))
  received = 0
  incoming.on('data', chunk => {
    received += chunk.length
  })
  incoming.once('end', () => {
    if (incoming.headers['x-events'] !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event)
      setImmediate(() => response.end(event))
    } else {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': answer.length,
      })
      response.end(answer)
    }
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`listens on http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
