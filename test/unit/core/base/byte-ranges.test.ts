import { describe, expect, it } from 'vitest'
import { freeBytes } from '../../../../src/core/base/byte-ranges.ts'

const SIZE = 100_000

describe('freeing bytes', () => {
  it('gives up a buffer of their own, so that no view shows anything', () => {
    const bytes = new Uint8Array(SIZE).fill(7)
    const part = bytes.subarray(10, 20)
    freeBytes(bytes)
    expect(bytes.length).toBe(0)
    expect(part.length).toBe(0)
    freeBytes(bytes)
    expect((bytes.buffer as ArrayBuffer).detached).toBe(true)
  })

  it('leaves a buffer that others may use', () => {
    const whole = new Uint8Array(SIZE).fill(7)
    freeBytes(whole.subarray(1))
    freeBytes(whole.subarray(0, SIZE - 1))
    expect(whole.at(-1)).toBe(7)
    const shared = new Uint8Array(new SharedArrayBuffer(SIZE)).fill(7)
    freeBytes(shared)
    expect(shared.at(-1)).toBe(7)
  })
})
