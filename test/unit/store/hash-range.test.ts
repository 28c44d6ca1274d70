import { expect, test } from 'vitest'
import { hashRange, shorten } from '../../../src/store/values/hash-range.ts'

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex')

test('a prefix means all hashes that begin with it', () => {
  const range = hashRange('0123ABCDE')
  expect(range?.digits).toBe(9)
  expect(hex(range?.low)).toBe('0123abcde'.padEnd(64, '0'))
  expect(hex(range?.high)).toBe('0123abcde'.padEnd(64, 'f'))
  expect(shorten(range!, 5).map(hex)).toEqual(['0123abcde0', '0123abcdef'])
})

test('a whole hash means itself', () => {
  const whole = 'a1'.repeat(32)
  expect([hex(hashRange(whole)?.low), hex(hashRange(whole)?.high)]).toEqual([whole, whole])
})

test.each(['', '1234567', 'g2345678', '1234567g', ' 12345678', '12345678\n', 'a'.repeat(65)])(
  '%j is no prefix of a hash',
  ref => {
    expect(hashRange(ref)).toBeUndefined()
  },
)
