import { expect, it } from 'vitest'
import { dial, front, message, rawUpstream } from '../../integration/proxy/stand-in.ts'

const GET = message(['GET /api/ HTTP/1.1', 'Host: us', 'Connection: close'])
const ANSWER = message(['HTTP/1.1 200 OK', 'Content-Length: 4'], 'good')

it('a client that ends its side is taken for gone, and so is its request at the upstream', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  const client = dial(proxy.url, GET)
  const wire = await upstream.next()
  await wire.until('\r\n\r\n')
  client.socket.end()
  await wire.all()
  expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'aborted', status: null })
})

it('an upstream that ends its side in the middle of a request is not waited for', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  const head = ['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 10']
  const client = dial(proxy.url, message(head, 'hello'))
  const wire = await upstream.next()
  wire.socket.allowHalfOpen = true
  await wire.until('hello')
  wire.socket.end()
  expect(await client.until('}')).toMatch(/^HTTP\/1\.1 502 /)
  await wire.all()
})

it('an upstream that ends its side after its answer is not sent the next request', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  for (let n = 0; n < 3; n++) {
    const client = dial(proxy.url, GET)
    const wire = await upstream.next()
    wire.socket.allowHalfOpen = true
    await wire.until('\r\n\r\n')
    wire.socket.end(ANSWER)
    expect(await client.all()).toMatch(/good$/)
    await wire.all()
  }
})
