import { connect as dial } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Service } from '../../../src/service/service.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import { eventually } from '../../support/eventually.ts'
import { eventsOf, RawHttpClient } from '../../support/mcp/http-client.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'

let upstream: RecordingUpstream
let service: Service
beforeAll(async () => {
  upstream = await RecordingUpstream.start({ era: 'legacy' })
  service = await startSmallService({ mcp: { servers: { one: { url: upstream.url } } } })
})
afterAll(async () => {
  await service.close()
  await upstream.close()
})

const client = (headers = {}) => new RawHttpClient(`${service.url}/mcp`, headers)

/** With a process for each session, unlike the other one. */
async function startBeforeProcesses() {
  const own = await startSmallService({ mcp: { servers: { one: upstream.stdio.command() } } })
  onTestFinished(() => own.close())
  return own
}

async function connected(to = service) {
  const one = new RawHttpClient(`${to.url}/mcp`)
  await one.initialize()
  return one
}

describe('a session id', () => {
  it.each(['__proto__', 'constructor', 'x'.repeat(4_000), '0'])('%s names no session', async id => {
    const other = client({ 'mcp-session-id': id })
    for (const response of [
      await other.post(other.request('ping')),
      await other.get(),
      await other.delete(),
    ]) {
      expect(response.status).toBe(404)
      await response.body?.cancel()
    }
  })

  it('a session id is needed after initialize', async () => {
    const one = client()
    expect((await one.post(one.request('tools/list'))).status).toBe(400)
    expect((await one.get()).status).toBe(400)
    expect((await one.delete()).status).toBe(400)
  })

  it('is not guessed: it has 192 random bits', async () => {
    const [one, two] = [await connected(), await connected()]
    expect(one.session).toMatch(/^[\w-]{32}$/)
    expect(one.session).not.toBe(two.session)
    await Promise.all([one.delete(), two.delete()])
  })
})

describe('a body', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"met', null, -32700],
    ['', null, -32700],
    ['{"jsonrpc":"1.0","id":"a","method":"ping"}', 'a', -32600],
    ['{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}', 5, -32600],
    ['{"jsonrpc":"2.0","id":5,"method":"ping","method":"ping"}', null, -32700],
    ['[]', null, -32600],
    ['[[]]', null, -32600],
    ['[1,{"jsonrpc":"2.0","id":1,"method":"ping"}]', null, -32600],
    [`[${'1,'.repeat(100)}1]`, null, -32600],
  ])('%s is answered with its id and code', async (body, id, code) => {
    const one = await connected()
    const response = await one.post(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ id, error: { code } })
    expect((await one.call('ping')).result).toEqual({})
    await one.delete()
  })

  it('of a hundred megabytes is refused before it is read', async () => {
    const one = await connected()
    const { hostname, port } = new URL(service.url)
    const socket = dial(Number(port), hostname)
    socket.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
        `Mcp-Session-Id: ${one.session}\r\nContent-Length: 100000000\r\n\r\n{`,
    )
    const [head] = await new Promise<string[]>(resolve =>
      socket.once('data', (chunk: Buffer) => resolve(chunk.toString().split('\r\n'))),
    )
    socket.destroy()
    expect(head).toContain('413')
    await one.delete()
  })

  it.each([
    [{ 'content-type': 'text/plain' }, 415],
    [{ accept: 'application/json' }, 406],
    [{ accept: 'text/event-stream;q=0, application/json' }, 406],
    [{ 'mcp-protocol-version': '1999-01-01' }, 400],
    [{ origin: 'http://evil.example' }, 403],
  ])('with the headers %o is refused with %i', async (headers, status) => {
    const other = client(headers)
    expect(
      (await other.post(other.request('initialize', { protocolVersion: '2025-06-18' }))).status,
    ).toBe(status)
  })

  it('with line breaks between its tokens reaches a server over stdio as one message', async () => {
    const one = await connected(await startBeforeProcesses())
    const call = {
      jsonrpc: '2.0',
      id: 'x',
      method: 'tools/call',
      params: { name: 'echo', arguments: { n: [1] } },
    }
    const response = await one.post(JSON.stringify(call, null, 2).replaceAll('\n', '\r\n'))
    expect(await response.json()).toMatchObject({ id: 'x', result: {} })
    await one.delete()
  })
})

describe('a stream', () => {
  it('is not taken up with an event of another session', async () => {
    const [one, two] = [await connected(), await connected()]
    const first = await eventsOf(await one.get()).next()
    const id = String(first.value?.id)
    expect((await two.get({ 'last-event-id': id })).status).toBe(400)
    for (const other of ['', '0', '__proto__', `${id}9`.replace(/-0-/, '-7-')]) {
      expect((await one.get({ 'last-event-id': other })).status).toBe(400)
    }
    await Promise.all([one.delete(), two.delete()])
  })

  it('gives way to the fifth of its client', async () => {
    const one = await connected()
    const first = eventsOf(await one.get())
    await first.next()
    const later: Response[] = []
    for (let i = 0; i < 4; i++) later.push(await one.get())
    expect((await first.next()).done).toBe(true)
    // Held until here: a response that nothing refers to is cancelled when memory is cleaned up.
    expect(later.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await one.delete()
  })
})

describe('clients that vanish', () => {
  it('leave no child once their sessions have ended', async () => {
    const own = await startBeforeProcesses()
    const all = await Promise.all(Array.from({ length: 3 }, () => connected(own)))
    await eventually(() => expect(upstream.stdio.processes.size).toBeGreaterThanOrEqual(3))
    await Promise.all(all.map(one => one.get()))
    await Promise.all(all.map(one => one.delete()))
    await eventually(() => expect(upstream.stdio.processes.size).toBe(0))
  })

  it('leave no child once the service has ended, and do not hold it up', async () => {
    const own = await startBeforeProcesses()
    const gone = new AbortController()
    const one = await connected(own)
    const streams = [await one.get(), await one.get({}, gone.signal)]
    gone.abort()
    await eventually(() => expect(upstream.stdio.processes.size).toBe(1))
    await own.close()
    for await (const _ of eventsOf(streams[0] as Response));
    await eventually(() => expect(upstream.stdio.processes.size).toBe(0))
  })
})
