import { type ArmSums, NO_SUMS } from '../../src/core/arms/sums.ts'
import { type ClassVerdict, verdictOf } from '../../src/core/arms/verdict.ts'
import type { RecordedResult } from './recorded-results.ts'

/** What elision does to a result, beside what its agent did anyway. */
export interface Effect {
  /** Probability that an elided result is asked for again, beside those that are anyway. */
  readonly again: number
  /** What that costs, in tokens that were left out of it. */
  readonly price: number
}

export interface Looks {
  readonly looks: number
  readonly conversations: number
  readonly share: number
}

/** What was found at a look. */
export interface Look {
  readonly results: number
  readonly verdict: ClassVerdict
}

type Sums = { -readonly [Name in keyof ArmSums]: number }

/**
 * Plays days of conversations that are drawn from recorded ones, and looks after each.
 * @param stop ends the run at a look
 */
export function playLooks(
  recorded: readonly (readonly RecordedResult[])[],
  { looks, conversations, share }: Looks,
  { again, price }: Effect,
  random: () => number,
  stop: (look: Look) => boolean,
): Look | null {
  const elided: Sums = { ...NO_SUMS }
  const whole: Sums = { ...NO_SUMS }
  for (let day = 0; day < looks; day++) {
    for (let n = 0; n < conversations; n++) {
      for (const result of recorded[Math.floor(random() * recorded.length)]!) {
        const isWhole = random() < share
        const comesBack = !isWhole && random() < again
        const { direct } = result
        const cost = result.cost + (comesBack ? price * direct : 0)
        add(isWhole ? whole : elided, 1 / (isWhole ? share : 1 - share), {
          direct,
          cost,
          hasFollowUp: result.hasFollowUp || comesBack,
        })
      }
    }
    const look = {
      results: elided.results + whole.results,
      verdict: verdictOf({ elided, whole }, share),
    }
    if (stop(look)) return look
  }
  return null
}

function add(sums: Sums, w: number, { direct, cost, hasFollowUp }: RecordedResult): void {
  const q = w * w
  sums.results++
  sums.direct += direct
  sums.w += w
  sums.wd += w * direct
  sums.wc += w * cost
  sums.q += q
  sums.qd += q * direct
  sums.qc += q * cost
  sums.qdd += q * direct * direct
  sums.qdc += q * direct * cost
  sums.qcc += q * cost * cost
  if (!hasFollowUp) return
  sums.wy += w
  sums.qy += q
}
