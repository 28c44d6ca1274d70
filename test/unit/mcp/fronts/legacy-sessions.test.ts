import { describe, expect, it } from 'vitest'
import { EventSink } from '../../../../src/mcp/fronts/event-sink.ts'
import type { HttpReply } from '../../../../src/mcp/fronts/http-exchange.ts'
import { EventLog } from '../../../../src/mcp/fronts/legacy/event-log.ts'
import { HttpSession } from '../../../../src/mcp/fronts/legacy/http-session.ts'
import { SessionTable } from '../../../../src/mcp/fronts/legacy/session-table.ts'
import type { Gateway } from '../../../../src/mcp/gateway.ts'
import type { GatewayClient } from '../../../../src/mcp/gateway-options.ts'
import { type Message, readMessage } from '../../../../src/mcp/json-rpc.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

const NEVER = new AbortController().signal
const message = (text: string) => readMessage(Buffer.from(text)) as Message
const posted = (text: string) => ({
  messages: [message(text)],
  isBatch: false,
  context: null,
  traceparent: null,
})
const INITIALIZE = posted('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}')
const CALL = posted('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}')

/** A gateway that notes which calls were aborted, and never answers. */
function silentGateway(aborted: string[] = []): Gateway {
  const gateway = {
    ready: async () => {},
    capabilities: () => Buffer.from('{}'),
    instructions: () => null,
    handle: ({ method, signal }: { method: string; signal: AbortSignal }) =>
      new Promise(resolve => {
        signal.addEventListener('abort', () => {
          aborted.push(method)
          resolve({ kind: 'result', result: Buffer.from('{}') })
        })
      }),
    notified: () => {},
    close: async () => {},
  }
  return gateway as unknown as Gateway
}

function open(table: SessionTable, tenant = 'a', gateway = silentGateway()) {
  const session = new HttpSession({
    id: table.newId(),
    caller: { tenant, credential: 'key' },
    version: '0',
    room: table.room,
    now: () => table.now(),
    createGateway: () => gateway,
  })
  table.add(session)
  return session
}

describe('sessions', () => {
  it('tell their gateway whether the client listens', async () => {
    const clock = createFakeClock()
    let client: GatewayClient | undefined
    const session = new HttpSession({
      ...{ id: 's', caller: { tenant: 'a', credential: 'key' }, version: '0' },
      ...{ room: { left: 0 }, now: () => clock.now() },
      createGateway(given) {
        client = given
        return silentGateway()
      },
    })
    await session.post(INITIALIZE, NEVER)
    expect(client?.isListening?.()).toBe(false)
    const stream = session.listen(null)?.body as ReadableStream
    expect(client?.isListening?.()).toBe(true)
    await stream.cancel()
    expect(client?.isListening?.()).toBe(false)
    await session.close()
  })

  it('belong to one tenant and one key', async () => {
    const table = new SessionTable(createFakeClock())
    const { id } = open(table)
    expect(table.find(id, { tenant: 'a', credential: 'key' })).toBeDefined()
    expect(table.find(id, { tenant: 'b', credential: 'key' })).toBeUndefined()
    expect(table.find(id, { tenant: 'a', credential: 'other' })).toBeUndefined()
    await table.close()
    expect(table.size).toBe(0)
  })

  it('end after ten idle minutes, but not while their client listens', async () => {
    const clock = createFakeClock()
    const table = new SessionTable(clock)
    const [idle, listening] = [open(table), open(table)]
    await listening.post(INITIALIZE, NEVER)
    const stream = listening.listen(null)?.body as ReadableStream
    clock.advance(620_000)
    expect(table.find(idle.id, idle.caller)).toBeUndefined()
    expect(table.find(listening.id, listening.caller)).toBeDefined()
    await stream.cancel()
    clock.advance(620_000)
    expect(table.size).toBe(0)
  })

  it('of one tenant are bounded, and an idle one gives way', async () => {
    const clock = createFakeClock()
    const table = new SessionTable(clock)
    for (let i = 0; i < 1_024; i++) {
      expect(table.makeRoom('a')).toBe(true)
      open(table)
    }
    expect(table.makeRoom('a')).toBe(false)
    expect(table.makeRoom('b')).toBe(true)
    clock.advance(31_000)
    expect(table.makeRoom('a')).toBe(true)
    expect(table.size).toBe(1_023)
    await table.close()
  })

  it('of all tenants are bounded', async () => {
    const table = new SessionTable(createFakeClock())
    for (let i = 0; i < 4_200; i++) if (table.makeRoom(`t${i % 9}`)) open(table, `t${i % 9}`)
    expect(table.size).toBe(4_096)
    await table.close()
  })

  it('end the call of a client that has gone for a minute', async () => {
    const clock = createFakeClock()
    const table = new SessionTable(clock)
    const aborted: string[] = []
    const session = open(table, 'a', silentGateway(aborted))
    await session.post(INITIALIZE, NEVER)
    const gone = new AbortController()
    void session.post(CALL, gone.signal)
    gone.abort()
    clock.advance(45_000)
    expect(aborted).toEqual([])
    clock.advance(30_000)
    expect(aborted).toEqual(['tools/call'])
    await table.close()
  })

  it('take none while the service ends', async () => {
    const table = new SessionTable(createFakeClock())
    const session = open(table)
    await session.post(INITIALIZE, NEVER)
    const reply = session.listen(null) as HttpReply
    const reader = (reply.body as ReadableStream).getReader()
    table.drain()
    await reader.read()
    expect((await reader.read()).done).toBe(true)
    expect(table.makeRoom('a')).toBe(false)
    await table.close()
  })
})

describe('a stream that its client does not read', () => {
  it('takes one event of any size, and is broken off beyond eight megabytes', async () => {
    let broken = 0
    const sink = new EventSink(() => broken++)
    sink.write(Buffer.alloc(20 * 1024 * 1024))
    expect(sink.isOpen).toBe(true)
    sink.write(Buffer.from('x'))
    expect(sink.isOpen).toBe(false)
    expect(broken).toBe(1)
    await expect(sink.stream.getReader().read()).rejects.toThrow('does not read')
  })
})

describe('a log of events', () => {
  const idOf = (chunk: Buffer) => /id: (\S+)/.exec(chunk.toString())?.[1] as string

  it('gives what came after an event, of its stream alone', () => {
    const log = new EventLog({ left: 1e9 })
    const first = log.add(1, Buffer.from('{"a":\n1}'))
    log.add(2, Buffer.from('{}'))
    const second = log.add(1, Buffer.from('{}'))
    const place = log.placeOf(idOf(first))
    expect(place).toEqual({ stream: 1, at: 1 })
    expect(log.after(place as NonNullable<typeof place>)).toEqual([second])
    expect(first.toString()).toMatch(/\ndata: \{"a": 1\}\n\n$/)
    expect(new EventLog({ left: 0 }).placeOf(idOf(first))).toBeNull()
  })

  it('keeps the last events within its bounds, and gives its room back', () => {
    const room = { left: 10_000_000 }
    const log = new EventLog(room)
    for (let i = 0; i < 1_000; i++) log.add(0, Buffer.from('{}'))
    expect(log.after({ stream: 0, at: 0 })).toHaveLength(256)
    for (let i = 0; i < 5; i++) log.add(0, Buffer.alloc(500_000, 0x20))
    expect(log.after({ stream: 0, at: 0 }).length).toBeLessThanOrEqual(2)
    expect(room.left).toBeGreaterThan(8_900_000)
    log.clear()
    expect(room.left).toBe(10_000_000)
  })
})
