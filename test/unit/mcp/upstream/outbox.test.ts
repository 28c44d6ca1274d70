import { Writable } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { Outbox } from '../../../../src/mcp/upstream/stdio-transport.ts'
import { Guard } from '../../../../src/proxy/guard.ts'
import { eventually } from '../../../support/eventually.ts'

const guard = new Guard(error => {
  throw error
})

/** A pipe whose other end reads one write at a time, when it is told to. */
function createPipe() {
  const written: string[] = []
  let read = () => {}
  const stream = new Writable({
    highWaterMark: 10,
    writev(chunks, done) {
      written.push(chunks.map(({ chunk }) => String(chunk)).join(''))
      read = () => {
        read = () => {}
        done()
      }
    },
  })
  return { stream, written, read: () => read() }
}

it('writes a message a line, and waits for a reader that is slow', async () => {
  const { stream, written, read } = createPipe()
  const outbox = new Outbox(stream, 1000, guard)
  const onSent = vi.fn()
  for (const name of ['first message', 'second', 'third']) {
    expect(outbox.add(Buffer.from(name), 1, onSent)).toBe(true)
  }
  expect(onSent).toHaveBeenCalledTimes(1)
  await eventually(() => expect(written).toEqual(['first message\n']))
  await eventually(() => {
    read()
    expect(written.join('')).toBe('first message\nsecond\nthird\n')
  })
  expect(onSent).toHaveBeenCalledTimes(3)
})

it('takes no more than its bound, and gives back what was not sent', () => {
  const { stream } = createPipe()
  const outbox = new Outbox(stream, 30, guard)
  const onSent = vi.fn()
  expect(outbox.add(Buffer.alloc(20), 1, onSent)).toBe(true)
  expect(outbox.add(Buffer.alloc(20), 2, onSent)).toBe(true)
  expect(outbox.add(Buffer.alloc(20), 3, onSent)).toBe(false)
  expect(outbox.withdraw(1)).toBe(false)
  expect(outbox.withdraw(2)).toBe(true)
  expect(outbox.add(Buffer.alloc(20), 4, onSent)).toBe(true)
  expect(outbox.stop()).toEqual([4])
  expect(outbox.add(Buffer.alloc(1), 5, onSent)).toBe(false)
  expect(onSent).toHaveBeenCalledTimes(2)
})
