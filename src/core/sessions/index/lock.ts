/** Tries before a thread sleeps: about as long as an operation of another thread takes. */
const SPINS = 300
/**
 * A sleeper looks again after this time, because the thread that should wake it may have been
 * terminated.
 */
const SLICE_MS = 5

/** Thrown if a lock was not free in time. Nothing was changed, and the call may be repeated. */
export class IndexBusyError extends Error {}

/**
 * Takes a lock: a word that is 0 when free, and otherwise owner × 2, + 1 if a thread sleeps. A
 * thread that was terminated while it had a lock keeps it until `releaseOwner`.
 * @param maxWaitMs how long to sleep at most, in all
 * @throws IndexBusyError
 */
export function acquire(words: Int32Array, at: number, owner: number, maxWaitMs: number): void {
  const mine = owner * 2
  if (tryAcquire(words, at, owner)) return
  for (let spin = 0; spin < SPINS; spin++) {
    if (Atomics.load(words, at) === 0 && tryAcquire(words, at, owner)) return
  }
  for (let left = maxWaitMs; ; ) {
    // Others may sleep too: with the mark, the release will wake one.
    const seen = Atomics.compareExchange(words, at, 0, mine + 1)
    if (seen === 0) return
    if (seen >> 1 === owner) throw new Error(`owner ${owner} has the lock already`)
    if (left <= 0) throw new IndexBusyError('the session index is busy')
    const marked = seen | 1
    if (seen !== marked && Atomics.compareExchange(words, at, seen, marked) !== seen) continue
    Atomics.wait(words, at, marked, Math.min(left, SLICE_MS))
    left -= SLICE_MS
  }
}

/** Takes a lock only if it is free. */
export function tryAcquire(words: Int32Array, at: number, owner: number): boolean {
  return Atomics.compareExchange(words, at, 0, owner * 2) === 0
}

/** Gives back a lock, and wakes one who sleeps for it. */
export function release(words: Int32Array, at: number): void {
  if ((Atomics.exchange(words, at, 0) & 1) !== 0) Atomics.notify(words, at, 1)
}
