import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The heap of this thread, and the buffers that it owns. */
export interface Heap {
  /**
   * Whether it holds much more than after ordinary work, or than was needed when it last shrank.
   */
  hasGrown(): boolean
  /** Collects garbage, which takes some 100 ms, and gives the free memory back to the system. */
  shrink(): void
}

/** A heap up to this size stays, in bytes: ordinary work needs it again at once. */
const ORDINARY_BYTES = 96 * 1024 * 1024

/** A heap may grow by this factor before it is collected again: what remained is in use. */
const GROWTH = 1.5

type CollectGarbage = (options: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor: 'last-resort'
}) => void

/**
 * A waiting thread blocks on an `Atomics.wait` and runs no event loop. V8 shrinks idle heaps in a
 * task of that loop, so here it never does. The memory of a large job would stay until the next
 * one.
 *
 * @param sizeOf how much the heap takes, in bytes
 */
export function createHeap(sizeOf = heapBytes, collect = collectGarbage): Heap {
  let kept = 0
  return {
    hasGrown: () => sizeOf() > Math.max(ORDINARY_BYTES, kept * GROWTH),
    shrink() {
      collect()
      kept = sizeOf()
    },
  }
}

function heapBytes(): number {
  const { total_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  return heap + buffers
}

/**
 * Node has no other way to call it. A new context gets the function without a flag at the start.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as CollectGarbage
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
