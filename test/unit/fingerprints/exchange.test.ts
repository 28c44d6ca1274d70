import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type Destination,
  pullProvider,
  pullTeam,
  push,
} from '../../../src/fingerprints/exchange.ts'
import { row } from './rows.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A service that answers so. */
async function serving(answer: RequestListener): Promise<Destination> {
  server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, team: 'backend', key: 'secret' }
}

describe('another service', () => {
  it('is told what is shared, by the key', async () => {
    let seen: unknown
    const at = await serving(async (request, response) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
      const { method, url, headers } = request
      seen = [method, url, headers['x-api-key'], body]
      const answer = { team: 'backend', member: 'ada', accepted: 1, refused: [], expires_at: 9 }
      response.end(JSON.stringify(answer))
    })
    expect(await push(at, 'ada', [row()])).toMatchObject({ accepted: 1 })
    const body = { member: 'ada', window_days: 30, endpoints: [row()] }
    expect(seen).toEqual(['POST', '/mcp/fingerprints/v1/teams/backend', 'secret', body])
  })

  it('cannot send the key elsewhere', async () => {
    const asked: (string | undefined)[] = []
    const at = await serving((request, response) => {
      asked.push(request.url)
      response.writeHead(302, { location: '/elsewhere' }).end('{}')
    })
    await expect(pullTeam(at)).rejects.toThrow('gives no answer: unexpected redirect')
    expect(asked).toEqual(['/mcp/fingerprints/v1/teams/backend'])
  })

  it('is not believed to say anything else, or without end', async () => {
    const wrong = await serving((_, response) => response.end('{"fingerprints":[{}]}'))
    await expect(pullProvider(wrong)).rejects.toThrow(/answers something else: .*version/)
    server?.close()
    const large = await serving(async (_, response) => {
      const chunk = Buffer.alloc(64 * 1024, ' ')
      for (let count = 0; count < 70 && !response.destroyed; count += 1) {
        if (!response.write(chunk))
          await Promise.race([once(response, 'drain'), once(response, 'close')])
      }
      response.end('{}')
    })
    await expect(pullProvider(large, 1 << 20)).rejects.toThrow('the answer is above 1048576 bytes')
  })

  it('has its words shown on one line, whatever they are', async () => {
    const at = await serving((_, response) => {
      response.statusCode = 403
      response.end(
        JSON.stringify({ code: 'forbidden', detail: `\u001b[2J\r\n${'x'.repeat(9_999)}` }),
      )
    })
    const error = await pullTeam(at).catch((thrown: Error) => thrown.message)
    expect(error).toMatch(/^http:\/\/127\.0\.0\.1:\d+: 403 forbidden: ·\[2J··x+$/)
    expect(String(error).length).toBeLessThan(700)
  })
})
