import { expect, it } from 'vitest'
import { GrownBytes } from '../../../../src/core/base/grown-bytes.ts'

const ONE = Uint8Array.of(0x61)

it('parts of one byte are in one buffer, of at most twice their bytes', () => {
  const grown = new GrownBytes(1 << 20)
  for (let at = 0; at < 100_000; at++) grown.add(ONE)
  expect(grown.bytes.buffer.byteLength).toBeLessThanOrEqual(2 * grown.length)
  expect(grown.take().toString()).toBe('a'.repeat(100_000))
  expect(grown.length).toBe(0)
})

it('a part beyond the bound is refused, and nothing of it is taken', () => {
  const grown = new GrownBytes(8, 1e9)
  expect(grown.add(Buffer.from('abcdef'))).toBe(true)
  expect(grown.bytes.buffer.byteLength).toBe(8)
  expect(grown.add(Buffer.from('ghi'))).toBe(false)
  expect(grown.add(Buffer.from('gh'))).toBe(true)
  expect(grown.add(ONE)).toBe(false)
  expect(grown.take().toString()).toBe('abcdefgh')
})
