import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A vendor's API: JSON of 1 KB, or under `/events` and for requests with `x-events` the first of a
 * stream of events, at once or after the milliseconds of `x-think`.
 */
const answer = JSON.stringify({ text: 'x'.repeat(1000) })
const event = `data: ${answer}\n\n`

const server = createServer((incoming, response) => {
  const { url, headers } = incoming
  incoming.resume()
  incoming.once('end', async () => {
    const think = Number(headers['x-think'] ?? 0)
    if (think > 0) await sleep(think)
    if (url === '/events' || headers['x-events'] !== undefined) {
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
