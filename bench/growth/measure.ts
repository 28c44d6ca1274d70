/** Processor time of this process so far, its threads included, in nanoseconds. */
function processorNs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** Processor time that a figure rests on, at least, in nanoseconds; and when no round follows. */
const LEAST_NS = 60e6
const MOST_NS = 2e9
const ROUNDS = 3

/**
 * Nanoseconds of processor time of one call: the least of some rounds, which other work on the
 * machine disturbs least. Each round has as many calls as make a figure.
 */
export async function costOf(call: (i: number) => unknown): Promise<number> {
  let calls = 0
  let best = Number.POSITIVE_INFINITY
  // The first round warms the code up.
  const begun = processorNs()
  for (let round = 0; round <= ROUNDS; round++) {
    if (round > 1 && processorNs() - begun > MOST_NS) break
    const started = processorNs()
    let spent = 0
    let count = 0
    do {
      await call(calls++)
      count++
      spent = processorNs() - started
    } while (spent < LEAST_NS)
    if (round > 0) best = Math.min(best, spent / count)
  }
  return best
}
