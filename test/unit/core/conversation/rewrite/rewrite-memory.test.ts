import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import {
  NOTHING_SAVED,
  writeStored,
} from '../../../../../src/core/conversation/rewrite/stored-rewrite.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'

const KEY = 'ab'.repeat(32)
const stored = (sent: number, text = '"x"') =>
  writeStored({
    literal: new TextEncoder().encode(text),
    saved: NOTHING_SAVED,
    isSource: false,
    markers: [],
    digest: 0,
    sent,
  })

/** Two threads at one memory, with what they keep at hand. */
function threads(bytes = 1 << 20) {
  const memory = createBodyMemory({ bytes })
  const attach = () => attachRewriteMemory(memory, { ownBytes: 100_000 })
  return [attach(), attach()] as const
}

describe('what was sent', () => {
  it('is found by other threads once it is confirmed', () => {
    const [one, other] = threads()
    const position = one.place(KEY, stored(1))!
    expect([one.get(KEY), other.get(KEY)]).toEqual([null, null])
    other.confirm(position)
    expect([one.get(KEY)?.sent, other.get(KEY)?.sent]).toEqual([1, 1])
  })

  it('is replaced for all threads, also for those that have it at hand', () => {
    const [one, other] = threads()
    one.confirm(one.place(KEY, stored(1))!)
    expect(other.get(KEY)?.sent).toBe(1)
    const position = one.place(KEY, stored(2), true)!
    expect(other.get(KEY)).toBeNull()
    one.confirm(position)
    expect([one.get(KEY)?.sent, other.get(KEY)?.sent]).toEqual([2, 2])
  })

  it('stays while it is used, whatever else comes', () => {
    const [one, other] = threads(1 << 18)
    one.confirm(one.place(KEY, stored(1))!)
    const large = `"${'y'.repeat(8_000)}"`
    for (let i = 0; i < 200; i++) {
      one.confirm(one.place(i.toString(16).padStart(64, '0'), stored(i, large))!)
      expect(one.get(KEY)?.sent).toBe(1)
    }
    expect(other.get(KEY)?.sent).toBe(1)
    expect(other.get('0'.repeat(64))).toBeNull()
  })

  it('is not kept where it is too large for the memory', () => {
    const [one] = threads(1 << 18)
    expect(one.place(KEY, stored(1, `"${'y'.repeat(100_000)}"`))).toBeNull()
  })

  it('stays at hand while it is used, and goes before what is used if it is not', () => {
    const [one, other] = threads()
    const unused = 'cd'.repeat(32)
    for (const key of [KEY, unused]) other.confirm(other.place(key, stored(1))!)
    const [used, once] = [one.get(KEY), one.get(unused)]
    const large = `"${'y'.repeat(8_000)}"`
    for (let i = 0; i < 30; i++) {
      const key = hash('sha256', `${i}`)
      other.confirm(other.place(key, stored(i, large))!)
      one.get(key)
      expect(one.get(KEY)).toBe(used)
    }
    expect(one.get(unused)).toEqual(once)
    expect(one.get(unused)).not.toBe(once)
  })

  it('goes in turn if all of it is used', () => {
    const [one, other] = threads(1 << 23)
    const large = `"${'y'.repeat(8_000)}"`
    const keys = Array.from({ length: 30 }, (_, i) => hash('sha256', `${i}`))
    const first = keys.map((key, i) => {
      other.confirm(other.place(key, stored(i, large))!)
      one.get(key)
      return one.get(key)
    })
    const again = keys.map(key => one.get(key))
    expect(again).toEqual(first)
    expect(again[0]).not.toBe(first[0])
  })
})
