import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createForwarder } from '../../src/proxy/forwarder.ts'
import { pathAfter } from '../../src/proxy/target.ts'

/**
 * The forwarder on a plain server: bodies as they come under `/stream`, read first under `/whole`.
 */
const limits = { connect_ms: 10_000, headers_ms: 10_000, idle_ms: 10_000, total_ms: 20_000 }
const base = new URL(process.env['UPSTREAM_URL'] ?? '')
const forwarder = createForwarder({ base, vendor: 'anthropic', limits, env: {} })

const server = createServer(async (incoming, outgoing) => {
  const target = incoming.url ?? ''
  const streamed = pathAfter(target, '/stream')
  if (streamed !== null) await forwarder.forward(incoming, outgoing, { path: streamed })
  else {
    const path = pathAfter(target, '/whole') ?? '*'
    await forwarder.forward(incoming, outgoing, { path, body: await buffer(incoming) })
  }
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`listens on http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
