import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { LoadClient, postRequest, runClosedLoop } from '../../../bench/support/load-client.ts'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

async function listen(answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

describe('LoadClient', () => {
  it('reads answers that come in pieces, one after the other', async () => {
    const port = await listen((request, response) => {
      const isLast = request.headers['x-last'] === 'yes'
      response.writeHead(isLast ? 503 : 200, {
        'content-length': 6,
        ...(isLast ? { connection: 'close' } : {}),
      })
      response.write('abc')
      setImmediate(() => response.end('def'))
    })
    const client = new LoadClient(port)
    const first = await client.ask(postRequest(port, '/', Buffer.from('{}')))
    expect(first).toMatchObject({ status: 200, last: false })
    expect(first.bytes.toString().endsWith('\r\n\r\nabcdef')).toBe(true)
    const second = await client.ask(postRequest(port, '/', Buffer.from('{}'), ['x-last: yes']))
    expect(second).toMatchObject({ status: 503, last: true })
    await client.closed
    await expect(client.ask(postRequest(port, '/', Buffer.from('{}')))).rejects.toThrow()
  })

  it('rejects if the connection ends without an answer, or never was', async () => {
    const port = await listen(request => request.destroy())
    const client = new LoadClient(port)
    await expect(client.ask(postRequest(port, '/', Buffer.from('{}')))).rejects.toThrow()
    await expect(new LoadClient(1).connected).rejects.toThrow()
  })
})

it('a closed loop counts answers and errors', async () => {
  let count = 0
  const port = await listen((_, response) => {
    response.writeHead(++count % 2 === 0 ? 429 : 200, { 'content-length': 0 }).end()
  })
  const request = postRequest(port, '/', Buffer.from('{}'))
  const seen: number[] = []
  const result = await runClosedLoop({
    ...{ port, connections: 2, seconds: 0.05, pauseMs: 1 },
    request: connection => {
      seen.push(connection)
      return request
    },
  })
  expect(result.requests).toBe(seen.length)
  expect(new Set(seen)).toEqual(new Set([0, 1]))
  expect(result.errors).toBe(result.requests >> 1)
})
