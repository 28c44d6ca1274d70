import { builtInPrices } from '../../src/config/prices.ts'
import { pricesFor, type TokenPrices } from '../../src/core/conversation/usage/billing.ts'
import { createRandom } from '../../src/lab/bill/statistics.ts'
import { type Arm, type ArmServices, isRaw, type StartArm, startArms } from './arms.ts'
import type { Usage } from './dialects.ts'
import { makeTask } from './make-task.ts'
import { type ModelTerms, type Run, runArm } from './run-arm.ts'
import { solveRaw } from './solve-raw.ts'
import type { Side } from './statistics.ts'
import { shuffle } from './words.ts'

export interface TrialTerms extends ModelTerms {
  readonly url: string
  readonly seed: number
  readonly pairs: number
  /** How often each task is done in each arm. */
  readonly passes: number
  readonly arms: readonly Arm[]
  /** In US dollars. */
  readonly budget: number
  readonly start?: StartArm | undefined
}

/** What one arm did in a pair, and its bill beside that of the same requests unpacked. */
export interface ArmSide extends Side {
  readonly without: number | null
}

/** A task done in all arms. */
export interface PlayedPair {
  readonly seed: number
  readonly pass: number
  readonly sides: ReadonlyMap<Arm, ArmSide>
}

export interface Played {
  readonly pairs: readonly PlayedPair[]
  /** Pairs that the provider failed in again and again. */
  readonly excluded: readonly string[]
  readonly isOverBudget: boolean
  readonly spent: number
}

const MOST_ATTEMPTS = 3
/** Characters of a token, tokens before the first result, and tokens of one answer: for estimates. */
const [CHARS, HEAD, ANSWER] = [3, 600, 200] as const
const ESTIMATED_TASKS = 20

/** @throws {Error} if there is no price in dollars, since no budget could be held */
export function dollarPrices({
  dialect,
  model,
}: ModelTerms): TokenPrices & { per_million: number } {
  const prices = pricesFor(dialect.vendor, model, [builtInPrices()])
  const { per_million } = prices
  if (per_million === undefined) throw new Error(`prices.toml has no price in dollars of ${model}`)
  return { ...prices, per_million }
}

/** In uncached input tokens. */
const costOf = ({ fresh, read, written, output }: Usage, prices: TokenPrices): number =>
  fresh + read * prices.cache_read + written * prices.cache_write + output * prices.output

/** What a trial will cost in dollars if the model takes as many steps as a solver. */
export async function estimate(terms: TrialTerms): Promise<number> {
  const prices = dollarPrices(terms)
  const tasks = Math.min(terms.pairs, ESTIMATED_TASKS)
  let cost = 0
  for (let at = 0; at < tasks; at++) {
    const { sizes } = await solveRaw(makeTask(terms.seed + at))
    let prompt = HEAD
    for (const size of sizes) {
      const written = size / CHARS + ANSWER
      cost += costOf({ fresh: 0, read: prompt, written, output: ANSWER }, prices)
      prompt += written
    }
  }
  const runs = terms.arms.length * terms.pairs * terms.passes
  return tasks === 0 ? 0 : ((cost / tasks) * runs * prices.per_million) / 1e6
}

/** Has a model do all tasks in all arms, in the order that each seed draws, within the budget. */
export async function playPairs(terms: TrialTerms, keep: (line: object) => void): Promise<Played> {
  const prices = dollarPrices(terms)
  const dollars = (tokens: number) => (tokens * prices.per_million) / 1e6
  const { arms, budget, passes, start } = terms
  const about = { vendor: terms.dialect.vendor, isEager: false, start }
  const services = await startArms(arms, terms.url, about)
  const pairs: PlayedPair[] = []
  const excluded: string[] = []
  let [spent, isOverBudget] = [0, budget <= 0]
  try {
    for (let at = 0; at < terms.pairs * passes && !isOverBudget; at++) {
      const [seed, pass] = [terms.seed + Math.floor(at / passes), at % passes]
      const pair = await playPair(seed, pass)
      if (pair !== null) pairs.push(pair)
      else if (!isOverBudget) excluded.push(`seed ${seed}, pass ${pass + 1}`)
    }
  } finally {
    await services.close()
  }
  return { pairs, excluded, isOverBudget, spent }

  /** A provider's failure repeats the whole pair. */
  async function playPair(seed: number, pass: number): Promise<PlayedPair | null> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS && !isOverBudget; attempt++) {
      const sides = new Map<Arm, ArmSide>()
      for (const arm of shuffle(createRandom(Math.imul(seed + 1, 31) + pass), arms)) {
        const session = `trial-${seed}-${pass}-${attempt}-${arm}`
        const before = spent
        const mayGoOn = (used: Usage) => before + dollars(costOf(used, prices)) < budget
        const run = await runArm(seed, arm, services, { terms, session, mayGoOn })
        const side = await sideOf(run, services, session, prices)
        spent += dollars(side.cost ?? costOf(run.spent, prices))
        isOverBudget ||= spent >= budget
        const { wrong, turns, isProvider } = run
        keep({ seed, pass, attempt, arm, wrong, ...side, turns })
        if (isOverBudget || isProvider) break
        sides.set(arm, side)
      }
      if (sides.size === arms.length) return { seed, pass, sides }
    }
    return null
  }
}

/** Rounds in which the proxy fetched are in the service's bill, and not in what the agent sees. */
async function sideOf(
  { arm, usage, steps, wrong }: Run,
  services: Pick<ArmServices, 'savings'>,
  session: string,
  prices: TokenPrices,
): Promise<ArmSide> {
  const bill = isRaw(arm) || usage === null ? null : await services.savings(arm, session)
  const cost = usage === null ? null : (bill?.billed ?? costOf(usage, prices))
  return { solved: wrong === null, steps, cost, without: bill?.without ?? null }
}
