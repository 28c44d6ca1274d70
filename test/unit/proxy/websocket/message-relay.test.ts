import { Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Guard } from '../../../../src/proxy/guard.ts'
import { OPCODES, writeFrame } from '../../../../src/proxy/websocket/frames.ts'
import { joinMessages } from '../../../../src/proxy/websocket/message-relay.ts'
import type {
  RewrittenMessage,
  SocketMessages,
  TakenMessage,
} from '../../../../src/proxy/websocket/socket-messages.ts'

/** One side of a connection: what is pushed comes from it, what is written to it is collected. */
function side() {
  const written: Buffer[] = []
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _, done) {
      written.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(written).toString('latin1') }
}

const AMPLE_MS = 3_600_000
const limits = { headers_ms: AMPLE_MS, idle_ms: AMPLE_MS, total_ms: AMPLE_MS }

/** A relay whose messages are handled by `take`. */
function relay(take: (text: string) => TakenMessage, changes: Partial<SocketMessages> = {}) {
  const client = side()
  const upstream = side()
  const bugs: unknown[] = []
  const ended: unknown[] = []
  let drops = 0
  const messages: SocketMessages = {
    begin: () => ({
      take: bytes => take(bytes.toString()),
      drop: () => {
        drops += 1
      },
    }),
    answered: () => undefined,
    pending: 0,
    hasBegun: false,
    drain: () => undefined,
    end: () => undefined,
    ...changes,
  }
  const joined = joinMessages(
    { stream: client.stream, head: Buffer.alloc(0) },
    { stream: upstream.stream, head: Buffer.alloc(0) },
    {
      guard: new Guard(bug => bugs.push(bug)),
      vendor: 'openai',
      limits,
      messages,
      ended: (...how) => ended.push(how),
    },
  )
  const say = (text: string, isLast = true, opcode: number = OPCODES.text) =>
    client.stream.push(writeFrame(opcode, Buffer.from(text), { isMasked: true, isLast }))
  const answer = (text: string, isLast = true, opcode: number = OPCODES.text) =>
    upstream.stream.push(writeFrame(opcode, Buffer.from(text), { isMasked: false, isLast }))
  return { client, upstream, bugs, ended, joined, say, answer, drops: () => drops }
}

/** A message whose rewriting the test decides on. */
function rewriting() {
  const { promise, resolve, reject } = Promise.withResolvers<RewrittenMessage>()
  const taken: TakenMessage = { kind: 'rewrite', message: promise }
  return { taken, resolve, reject }
}

const done = () => undefined
const ready = (text: string): TakenMessage => ({
  kind: 'rewrite',
  message: Promise.resolve({ bytes: Buffer.from(text), done }),
})

describe('the messages of a client', () => {
  it('keep their order while one is rewritten', async () => {
    const first = rewriting()
    const sent: boolean[] = []
    const { say, upstream } = relay(text => (text === 'one' ? first.taken : ready(text)))
    say('one')
    say('ping', true, OPCODES.ping)
    say('two')
    await turn()
    expect(upstream.text()).toBe('')
    first.resolve({ bytes: Buffer.from('ONE'), done: isSent => sent.push(isSent) })
    await expect.poll(() => upstream.text().length).toBe(3 * 6 + 3 + 4 + 3)
    expect(sent).toEqual([true])
  })

  it('do not wait for what is recorded, but the answer does', async () => {
    const recorded = Promise.withResolvers<void>()
    const { say, answer, client, upstream } = relay(() => ({
      kind: 'rewrite',
      message: Promise.resolve({ bytes: Buffer.from('ONE'), recorded: recorded.promise, done }),
    }))
    say('one')
    await expect.poll(() => upstream.text().length).toBe(6 + 3)
    answer('answer')
    await turn()
    expect(client.text()).toBe('')
    recorded.resolve()
    await expect.poll(() => client.text()).toBe('\x81\x06answer')
  })

  it('that are refused are told to the client, between two messages of the upstream', async () => {
    const { say, answer, client, upstream } = relay(() => ({
      kind: 'refuse',
      event: Buffer.from('no'),
    }))
    answer('be', false)
    await turn()
    say('one', false)
    say('more', true, OPCODES.continuation)
    await turn()
    expect(client.text()).toBe('\x01\x02be')
    answer('gin', true, OPCODES.continuation)
    answer('next')
    await expect.poll(() => client.text()).toBe('\x01\x02be\x80\x03gin\x81\x02no\x81\x04next')
    expect(upstream.text()).toBe('')
  })

  it('that are not sent any more are given up', async () => {
    const one = rewriting()
    const sent: boolean[] = []
    const { say, client, upstream, ended } = relay(() => one.taken)
    say('one')
    await turn()
    upstream.stream.destroy()
    await turn()
    one.resolve({ bytes: Buffer.from('ONE'), done: isSent => sent.push(isSent) })
    await expect.poll(() => sent).toEqual([false])
    client.stream.push(null)
    await expect.poll(() => ended).toEqual([['answered', 9, 0]])
  })

  it('that broke off are dropped', async () => {
    const { say, client, drops } = relay(() => ({ kind: 'held' }))
    say('one', false)
    await turn()
    client.stream.destroy()
    await expect.poll(drops).toBe(1)
  })
})

describe('a bug', () => {
  it.each<[string, Partial<SocketMessages>, (text: string) => TakenMessage]>([
    ['in taking', {}, () => Reflect.apply(() => expect.fail('bug'), null, [])],
    [
      'in beginning',
      {
        begin() {
          throw new Error('bug')
        },
      },
      () => ready(''),
    ],
    ['in rewriting', {}, () => ({ kind: 'rewrite', message: Promise.reject(new Error('bug')) })],
  ])('%s is given to the guard', async (_, changes, take) => {
    const { say, bugs } = relay(take, changes)
    say('one')
    await expect.poll(() => bugs.length).toBe(1)
  })

  it('in reading an answer is given to the guard', async () => {
    const { answer, bugs } = relay(ready, {
      answered() {
        throw new Error('bug')
      },
    })
    answer('one')
    await expect.poll(() => bugs.length).toBe(1)
  })
})
