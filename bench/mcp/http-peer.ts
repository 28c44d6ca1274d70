import { Agent, type IncomingMessage, request as open } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { INITIALIZE, type Peer } from './peer.ts'

/** A client of 2025 over Streamable HTTP, with kept connections and a session. */
export async function openHttpPeer(
  url: string,
  pids: Readonly<Record<string, number>> = {},
): Promise<Peer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let session: string | undefined
  let lastId = 0
  const post = (message: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = open(url, {
        ...{ method: 'POST', agent },
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(message),
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
      })
      outgoing.on('response', resolve).on('error', reject).end(message)
    })
  const request = async (method: string, params: string) => {
    const answer = await post(
      `{"jsonrpc":"2.0","id":${++lastId},"method":"${method}","params":${params}}`,
    )
    const given = answer.headers['mcp-session-id']
    if (typeof given === 'string') session = given
    const body = await buffer(answer)
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}: ${body}`)
    return body
  }
  await request('initialize', INITIALIZE)
  const accepted = await post('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  await buffer(accepted)
  return { pids, request, close: async () => agent.destroy() }
}
