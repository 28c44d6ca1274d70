import { describe, expect, it } from 'vitest'
import { dial, front, message, rawUpstream } from './stand-in.ts'

const NO_CONTENT = message(['HTTP/1.1 204 No Content'])

describe('a client that waits for 100', () => {
  const head = message([
    'POST /api/ HTTP/1.1',
    'Host: us',
    'Content-Length: 4',
    'Expect: 100-continue',
  ])

  it('gets it when the upstream gives it', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const client = dial(proxy.url, head)
    const wire = await upstream.next()
    expect(await wire.until('\r\n\r\n')).toContain('\r\nExpect: 100-continue\r\n')
    expect(client.text).toBe('')
    wire.socket.write('HTTP/1.1 100 Continue\r\n\r\n')
    expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    client.socket.write('body')
    await wire.until('\r\n\r\nbody')
    wire.socket.write(NO_CONTENT)
    await client.until('204')
  })

  it('is told the answer instead, where there is one already', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const client = dial(proxy.url, head)
    const wire = await upstream.next()
    await wire.until('\r\n\r\n')
    wire.socket.write(message(['HTTP/1.1 401 Unauthorized', 'Content-Length: 2'], 'no'))
    expect(await client.all()).toBe(
      message(['HTTP/1.1 401 Unauthorized', 'Content-Length: 2', 'Connection: close'], 'no'),
    )
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', sent_bytes: 0 })
    await wire.all()
  })

  it('for which nobody waits changes nothing', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const lines = ['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 4', 'Connection: close']
    const client = dial(proxy.url, message(lines, 'bo'))
    const wire = await upstream.next()
    await wire.until('\r\n\r\nbo')
    wire.socket.write(message(['HTTP/1.1 100 Continue'], message(['HTTP/1.1 103 Early Hints'])))
    expect(await client.until('\r\n\r\n')).toBe(message(['HTTP/1.1 103 Early Hints']))
    client.socket.write('dy')
    await wire.until('\r\n\r\nbody')
    wire.socket.end(message(['HTTP/1.1 204 No Content']))
    await client.all()
    expect(wire.text).toMatch(/\r\n\r\nbody$/)
  })

  it('gets it anyway where the question cannot be passed on with its other headers', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url, limits: { idle_ms: 20 } })
    const client = dial(proxy.url, head.replace('Host: us', 'Host: us\r\nX-A: \xe9'))
    const wire = await upstream.next()
    expect(await wire.until('\r\n\r\n')).toContain('\r\nX-A: \xe9\r\n')
    expect(wire.text).not.toContain('Expect')
    await client.until('HTTP/1.1 100 Continue\r\n\r\n')
    client.socket.write('body')
    await wire.until('\r\n\r\nbody')
  })

  it('gets it anyway from an upstream that does not know of it', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url, limits: { idle_ms: 20 } })
    const client = dial(proxy.url, head)
    const wire = await upstream.next()
    await client.until('HTTP/1.1 100 Continue\r\n\r\n')
    client.socket.write('body')
    await wire.until('\r\n\r\nbody')
  })
})
