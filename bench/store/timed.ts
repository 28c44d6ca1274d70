/** Times of one kind of call, and what follows from them. */
export interface Timed {
  readonly ms: readonly number[]
  readonly total_ms: number
}

/** Runs `count` calls, `lanes` at a time, and takes the time of each. */
export async function timed(
  count: number,
  lanes: number,
  call: (i: number) => Promise<unknown>,
): Promise<Timed> {
  const ms: number[] = []
  let next = 0
  const started = performance.now()
  const lane = async () => {
    while (next < count) {
      const i = next++
      const from = performance.now()
      await call(i)
      ms.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return { ms, total_ms: performance.now() - started }
}
