import { expect, it } from 'vitest'
import { FIXED_LIMITS } from '../../../src/config/fixed-limits.ts'

it.each([
  [1, 256],
  [4, 256],
  [16, 1_024],
  [100, 6_400],
])('a thread for bodies of %d MiB has a heap of %d MiB', (body, heap) => {
  expect(FIXED_LIMITS.heapMb(body * 1024 * 1024)).toBe(heap)
})
