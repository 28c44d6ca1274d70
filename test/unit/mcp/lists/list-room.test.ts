import { expect, it } from 'vitest'
import { ListRoom } from '../../../../src/mcp/catalogue/lists/list-room.ts'

const list = (...texts: string[]) =>
  texts.map(text => ({ key: text.slice(0, 1), raw: Buffer.from(text) }))

it('keeps equal lists once, until nothing uses them', () => {
  const room = new ListRoom()
  const one = room.keep('one', list('abc', 'def'))
  const two = room.keep('one', list('abc', 'def'))
  expect(one).toBe(two)
  expect(one).toEqual(list('abc', 'def'))
  const { bytes } = room
  const other = room.keep('one', list('abcd', 'ef'))
  expect(other).not.toBe(one)
  expect(room.bytes).toBeGreaterThan(bytes)
  room.leave(other!)
  room.leave(one!)
  expect(room.bytes).toBe(bytes)
  room.leave(two!)
  expect(room.bytes).toBe(0)
})

it('has a bound for each server, in which what is there already still fits', () => {
  const room = new ListRoom(4_000)
  expect(room.keep('one', list('a'.repeat(700)))).not.toBeNull()
  expect(room.keep('one', list('b'.repeat(700)))).toBeNull()
  expect(room.keep('one', list('a'.repeat(700)))).not.toBeNull()
  for (const server of ['two', 'three', 'four']) {
    expect(room.keep(server, list('c'.repeat(700)))).not.toBeNull()
  }
  expect(room.keep('five', list('c'.repeat(700)))).toBeNull()
})

it('holds nothing of the message that a list came in', () => {
  const message = Buffer.alloc(1_000_000)
  const [kept] = new ListRoom().keep('one', [{ key: 'a', raw: message.subarray(0, 10) }])!
  expect(kept!.raw.buffer.byteLength).toBe(10)
})
