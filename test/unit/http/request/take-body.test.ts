import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { createSink, takeBody } from '../../../../src/http/request/body.ts'

/** A request whose body the test writes, and a sink for so many bytes of it. */
function taking(room = 100) {
  const incoming = new PassThrough()
  const parts: Buffer[] = []
  const refusal = new AppError('payload_too_large', 'no')
  const sink: Parameters<typeof takeBody>[1] = {
    add(chunk) {
      if (Buffer.concat([...parts, chunk]).length > room) throw refusal
      parts.push(Buffer.from(chunk))
      return true
    },
    taken: () => Buffer.concat(parts),
    end: () => Buffer.concat(parts),
  }
  const taken = takeBody(incoming as unknown as IncomingMessage, sink)
  const listening = () =>
    ['data', 'end', 'error', 'close'].map(name => incoming.listenerCount(name))
  const before = new PassThrough()
  const own = ['data', 'end', 'error', 'close'].map(name => before.listenerCount(name))
  return { incoming, taken, refusal, isDetached: () => String(listening()) === String(own) }
}

const CUT = { code: 'invalid_request', detail: 'the body broke off' }

describe('a body', () => {
  test('is all that came until its end', async () => {
    const { incoming, taken, isDetached } = taking()
    expect(isDetached()).toBe(false)
    incoming.write('one ')
    incoming.end('two')
    expect(await taken).toEqual({ body: Buffer.from('one two') })
    expect(isDetached()).toBe(true)
  })

  test('that is refused is put back, and the request paused', async () => {
    const { incoming, taken, refusal, isDetached } = taking(5)
    incoming.write('12345')
    incoming.write('67')
    expect(await taken).toEqual({ refusal })
    expect([incoming.isPaused(), isDetached()]).toEqual([true, true])
    incoming.end('8')
    const all: Buffer[] = []
    for await (const chunk of incoming) all.push(chunk as Buffer)
    expect(Buffer.concat(all).toString()).toBe('12345678')
  })

  test('has its parts freed once they are copied, but not the part that it consists of', async () => {
    const [one, two] = [Buffer.alloc(40_000, 'a'), Buffer.alloc(30_000, 'b')]
    const whole = Buffer.concat([one, two])
    for (const { announced, parts, freed } of [
      { announced: whole.length, parts: [one, two], freed: true },
      { announced: null, parts: [one, two], freed: true },
      { announced: one.length, parts: [one], freed: false },
    ]) {
      const incoming = new PassThrough()
      const given = parts.map(part => Buffer.from(new Uint8Array(part).buffer))
      const ticket = { grow() {}, add() {}, leave() {} }
      const sink = createSink(announced, 1 << 20, ticket)
      const taken = takeBody(incoming as unknown as IncomingMessage, sink)
      for (const part of given) incoming.write(part)
      incoming.end()
      const { body } = (await taken) as { body: Uint8Array }
      expect(Buffer.compare(body, Buffer.concat(parts))).toBe(0)
      expect(given.map(part => part.length === 0)).toEqual(parts.map(() => freed))
    }
  })

  test('keeps a part that is refused, however long', async () => {
    const incoming = new PassThrough()
    const ticket = { grow() {}, add() {}, leave() {} }
    const sink = createSink(null, 50_000, ticket)
    const taken = takeBody(incoming as unknown as IncomingMessage, sink)
    incoming.write(Buffer.alloc(40_000, 'a'))
    incoming.end(Buffer.from(new Uint8Array(Buffer.alloc(40_000, 'b')).buffer))
    expect(await taken).toHaveProperty('refusal')
    const all: Buffer[] = []
    for await (const chunk of incoming) all.push(chunk as Buffer)
    expect(Buffer.concat(all).toString()).toBe('a'.repeat(40_000) + 'b'.repeat(40_000))
  })

  test('that ends with an error, or is closed early, breaks off', async () => {
    const failed = taking()
    failed.incoming.destroy(new Error('reset'))
    // It goes to no one else.
    failed.incoming.on('error', () => {})
    await expect(failed.taken).rejects.toMatchObject(CUT)
    const closed = taking()
    closed.incoming.write('x')
    closed.incoming.destroy()
    await expect(closed.taken).rejects.toMatchObject(CUT)
    expect([failed.isDetached() || failed.incoming.destroyed, closed.isDetached()]).toEqual([
      true,
      true,
    ])
  })
})
