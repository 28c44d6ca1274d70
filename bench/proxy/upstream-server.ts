import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A vendor's API that answers at once: JSON of 1 KB, or under `/events` the first of a stream of events. */
const answer = JSON.stringify({ text: 'x'.repeat(1000) })
const event = `data: ${answer}\n\n`

const server = createServer((incoming, response) => {
  incoming.resume()
  incoming.once('end', () => {
    if (incoming.url === '/events') {
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
