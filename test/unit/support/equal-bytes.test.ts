import { expect, it } from 'vitest'

const bytes = () => new Uint8Array(8 << 20).fill(7)

it('compares megabytes at once', () => {
  expect(bytes()).toEqual(bytes())
  expect({ list: [bytes()] }).toStrictEqual({ list: [bytes()] })
})

it('bytes that differ are not equal', () => {
  expect(Uint8Array.of(1, 2)).not.toEqual(Uint8Array.of(1, 3))
  expect(Uint8Array.of(1, 2)).not.toEqual(Uint8Array.of(1, 2, 3))
  expect(Buffer.from('a')).not.toStrictEqual(Uint8Array.of(97))
  expect(Uint8Array.of(1)).not.toEqual([1])
})
