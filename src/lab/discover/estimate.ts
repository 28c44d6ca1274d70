import { createRandom } from '../guard/bootstrap.ts'

/** A log that was encoded. */
export interface Encoded {
  readonly before: number
  readonly after: number
}

/** The change of tokens, −0.33 for a third less, with a range that has it nine times in ten. */
export interface Estimate {
  readonly change: number
  readonly low: number
  readonly high: number
}

const DRAWS = 1_000
/**
 * A few logs have most of the tokens, so samples differ more than draws from one: what holds 95 %
 * of draws holds nine in ten samples.
 */
const TAIL = 0.025
/** The range of a sample is the same each time it is looked at. */
const SEED = 1
/** Least logs whose differences say something of the others. */
const LEAST_LOGS = 5

/**
 * The change over all logs by a random sample of them: the ratio of the sums, and its bootstrap
 * (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). What part of all is in the
 * sample has no error, so the range is narrower by its share.
 * @param share of all tokens that the sample has; 1: it is exact
 * @returns `null` if the sample is too small to say anything
 */
export function estimateChange(sample: readonly Encoded[], share: number): Estimate | null {
  const change = changeOf(sample)
  if (change === null) return null
  if (share >= 1) return { change, low: change, high: change }
  if (sample.length < LEAST_LOGS) return null
  const random = createRandom(SEED)
  const drawn: number[] = []
  for (let draw = 0; draw < DRAWS; draw++) {
    const again = sample.map(() => sample[Math.floor(random() * sample.length)]!)
    drawn.push(changeOf(again) ?? change)
  }
  drawn.sort((a, b) => a - b)
  const rest = Math.sqrt(1 - share)
  const at = (part: number) => change + rest * (drawn[Math.floor(part * (DRAWS - 1))]! - change)
  return { change, low: at(TAIL), high: at(1 - TAIL) }
}

function changeOf(logs: readonly Encoded[]): number | null {
  let [before, after] = [0, 0]
  for (const log of logs) {
    before += log.before
    after += log.after
  }
  return before === 0 ? null : (after - before) / before
}
