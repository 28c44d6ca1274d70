import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** A vendor's WebSocket that answers each message with the two events of a response. */
const http = createServer()
const server = new WebSocketServer({ server: http, perMessageDeflate: false, maxPayload: 1 << 26 })
server.on('connection', socket => {
  socket.on('error', () => undefined)
  socket.on('message', () => {
    socket.send('{"type":"response.created","response":{"id":"r"}}')
    socket.send('{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":9}}}')
  })
})
http.listen(0, '127.0.0.1', () => {
  const { port } = http.address() as AddressInfo
  process.stdout.write(`listens on http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
