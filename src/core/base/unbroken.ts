/**
 * Work in which a thread must not be terminated. Node ends the whole process if a thread ends after
 * one of zlib's objects was made and before it was set up (`node_zlib.cc`, "close before init"). So
 * a cell of shared memory is held either by the thread or by the caller that terminates it.
 */
const FREE = 0
const BUSY = 1
const STOPPING = 2
/** In unbroken work, which is the last. */
const LAST = 3

interface GuardCell {
  readonly cells: Int32Array
  readonly at: number
}

/** The cell of this thread; `null` if it is never terminated. */
let own: GuardCell | null = null
let isInside = false

/** Names the cell that is looked at before this thread is terminated. */
export function protectThread(cells: Int32Array, at: number): void {
  own = { cells, at }
}

/** Makes a cell ready for a thread. */
export function resetProtection(cells: Int32Array, at: number): void {
  Atomics.store(cells, at, FREE)
}

/**
 * Runs native work that this thread is not terminated in. If its end was decided before, the work
 * never begins: the thread waits.
 */
export function unbroken<T>(work: () => T): T {
  if (own === null || isInside) return work()
  const { cells, at } = own
  while (Atomics.compareExchange(cells, at, FREE, BUSY) !== FREE) Atomics.wait(cells, at, STOPPING)
  isInside = true
  try {
    return work()
  } finally {
    isInside = false
    if (Atomics.compareExchange(cells, at, BUSY, FREE) === LAST) Atomics.store(cells, at, STOPPING)
  }
}

/**
 * Decides that the thread of a cell is terminated now. Returns `false` if it is in unbroken work:
 * the caller comes back soon.
 */
export function mayTerminate(cells: Int32Array, at: number): boolean {
  const before = Atomics.compareExchange(cells, at, FREE, STOPPING)
  return before === FREE || before === STOPPING
}

/**
 * Decides that the thread of a cell is terminated as soon as possible. Returns `false` if it is in
 * unbroken work: it begins no more after that, so this soon returns `true`.
 */
export function endThread(cells: Int32Array, at: number): boolean {
  if (mayTerminate(cells, at)) return true
  Atomics.compareExchange(cells, at, BUSY, LAST)
  return false
}
