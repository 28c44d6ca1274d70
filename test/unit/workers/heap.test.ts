import { describe, expect, it } from 'vitest'
import { createHeap } from '../../../workers/heap.ts'

const MIB = 1024 * 1024

/** A heap of which the test says how large it is, and what a collection leaves of it. */
function heapOf(mib: number, left = mib) {
  const state = { mib, left }
  const heap = createHeap(
    () => state.mib * MIB,
    () => {
      state.mib = state.left
    },
  )
  return { heap, state }
}

describe('the heap of a thread', () => {
  it('has grown beyond what ordinary work takes', () => {
    expect(heapOf(60).heap.hasGrown()).toBe(false)
    expect(heapOf(96).heap.hasGrown()).toBe(false)
    expect(heapOf(97).heap.hasGrown()).toBe(true)
  })

  it('is small again after it shrank', () => {
    const { heap } = heapOf(300, 40)
    heap.shrink()
    expect(heap.hasGrown()).toBe(false)
  })

  it('is not collected again and again for what is in use', () => {
    const { heap, state } = heapOf(300, 200)
    heap.shrink()
    expect(heap.hasGrown()).toBe(false)
    state.mib = 299
    expect(heap.hasGrown()).toBe(false)
    state.mib = 301
    expect(heap.hasGrown()).toBe(true)
  })

  it('may be as large as before once what was in use is free', () => {
    const { heap, state } = heapOf(300, 200)
    heap.shrink()
    state.mib = 310
    state.left = 40
    heap.shrink()
    state.mib = 97
    expect(heap.hasGrown()).toBe(true)
  })
})
