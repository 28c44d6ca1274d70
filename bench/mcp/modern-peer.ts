import { Agent, type IncomingMessage, request as open } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Peer } from './peer.ts'

const M = 'io.modelcontextprotocol/'

/** A client of 2026-07-28 over Streamable HTTP, with kept connections. */
export function openModernPeer(url: string, name: string): Peer {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const _meta = JSON.stringify({
    [`${M}protocolVersion`]: '2026-07-28',
    [`${M}clientCapabilities`]: {},
    [`${M}clientInfo`]: { name, version: '1' },
  })
  let lastId = 0
  const request = async (method: string, params: string) => {
    const full = `${params.slice(0, -1)}${params === '{}' ? '' : ','}"_meta":${_meta}}`
    const message = `{"jsonrpc":"2.0","id":${++lastId},"method":"${method}","params":${full}}`
    const { name: tool = '' } = JSON.parse(params) as { name?: string }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = open(url, {
        ...{ method: 'POST', agent },
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(message),
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(tool === '' ? {} : { 'mcp-name': tool }),
        },
      })
      outgoing.on('response', resolve).on('error', reject).end(message)
    })
    const body = await buffer(answer)
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}: ${body}`)
    return body
  }
  return { pids: {}, request, close: async () => agent.destroy() }
}
