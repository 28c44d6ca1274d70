import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { runClosedLoop } from '../../../bench/support/closed-loop.ts'
import { post, timedCall } from '../../../bench/support/http-client.ts'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a call', () => {
  it('reads an answer that comes in pieces, and replaces a connection that was closed', async () => {
    const sockets = new Set<unknown>()
    const url = await listen((request, response) => {
      sockets.add(request.socket)
      response.writeHead(request.headers['x-wrong'] === 'yes' ? 503 : 200)
      response.write('abc')
      setImmediate(() => response.end('def'))
    })
    const first = await post(url, '{}')
    expect([first.status, first.body.toString()]).toEqual([200, 'abcdef'])
    await timedCall(url, '{}')
    expect(sockets.size).toBe(1)
    servers.at(-1)!.closeIdleConnections()
    await timedCall(url, '{}')
    expect(sockets.size).toBe(2)
    await expect(timedCall(url, '{}', { 'x-wrong': 'yes' })).rejects.toThrow('answered 503')
  })

  it('rejects if the connection ends without an answer, or never was', async () => {
    const url = await listen(request => request.destroy())
    await expect(post(url, '{}')).rejects.toThrow()
    await expect(post('http://127.0.0.1:1', '{}')).rejects.toThrow()
  })
})

it('a closed loop counts answers and errors', async () => {
  let count = 0
  const url = await listen((_, response) => {
    response.writeHead(++count % 2 === 0 ? 429 : 200, { 'content-length': 0 }).end()
  })
  const seen: number[] = []
  const result = await runClosedLoop({
    ...{ connections: 2, seconds: 0.05, pauseMs: 1 },
    request: connection => {
      seen.push(connection)
      return [url, '{}']
    },
  })
  expect(result.requests).toBe(seen.length)
  expect(new Set(seen)).toEqual(new Set([0, 1]))
  expect(result.errors).toBe(result.requests >> 1)
})
