import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A vendor of Anthropic's API that has one answer. */
export interface SmallVendor {
  readonly url: string
  close(): Promise<void>
}

export async function startSmallVendor(): Promise<SmallVendor> {
  const server = createServer(async (request, response) => {
    let bytes = 0
    for await (const chunk of request) bytes += chunk.length
    const answer = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' },
      content: [{ type: 'text', text: 'That is all.' }],
      ...{ stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: bytes >> 2, output_tokens: 5 },
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
