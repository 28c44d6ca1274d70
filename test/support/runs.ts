/**
 * How many random runs a property gets, and from which seed: see CONTRIBUTING.md, "Tests".
 * `TEST_RUNS` is `full`, or a factor of the full number. The default is a twentieth.
 */
const FACTOR = readFactor(process.env['TEST_RUNS'])

/** Few runs are not made fewer than this: they have to reach what the property is about. */
const FEWEST = 10

/** Whether each property gets all of its runs, or more. */
export const FULL_RUNS = FACTOR >= 1

/** The seed of this run of the tests. `vitest.config.ts` draws it and the reporter prints it. */
export const SEED = Number(process.env['TEST_SEED'] ?? 1)

/**
 * The number of runs for a property whose full number is `full`: a whole number, since fast-check
 * never ends with another one.
 */
export function runs(full: number): number {
  return Math.ceil(Math.max(full * FACTOR, Math.min(full, FEWEST)))
}

/**
 * The least number of hits to ask for if `expected` is the bound for many runs.
 * Fewer runs scatter more: allows for four standard deviations of a Poisson distribution. Below 0:
 * so few runs may have none.
 */
export function leastHits(expected: number): number {
  return FULL_RUNS ? expected : expected - 4 * Math.sqrt(expected)
}

function readFactor(text = '0.05'): number {
  const factor = text === 'full' ? 1 : Number(text)
  if (factor > 0 && factor < Number.POSITIVE_INFINITY) return factor
  throw new Error(`TEST_RUNS must be "full" or a number above 0, not ${text}`)
}
