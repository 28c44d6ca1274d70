import { BoundedMap } from '../base/bounded-map.ts'

/** Sizes of results as they come, for plans that follow. */
export interface ObservedCosts {
  /** @param names `argumentNames` of the call */
  observe(tool: string, names: string | undefined, tokens: number): void
  /**
   * Tokens that four of five results stay within: of the latest calls with these arguments, if
   * there were eight, else of the tool's latest calls, if there were twenty.
   */
  expected(tool: string, names: string | undefined): number | undefined
}

const LEAST_ALIKE = 8
const LEAST_RESULTS = 20
/**
 * The median is exceeded by half of all results. Of recorded results 13 % are at least 1.3 times as
 * large as this share of those before them (docs/guide/planning.md).
 */
const SHARE = 0.8
/** Results of one kind that are kept. */
const WINDOW = 64
const MAX_KINDS = 4_000
/** Longer lists of names come from arguments that are no fixed set. */
const MAX_NAMES = 256

/**
 * The names of a call's arguments, sorted. Calls with the same ones have results of similar sizes:
 * to read a part of a file names more than to read all of it. `undefined` if they are not known, or
 * too many to tell kinds of calls apart.
 * @param args an object as JSON; `null` if it is not known
 */
export function argumentNames(args: string | null): string | undefined {
  if (args === null) return undefined
  const parsed: unknown = JSON.parse(args)
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const names = JSON.stringify(Object.keys(parsed).sort())
  return names.length > MAX_NAMES ? undefined : names
}

/** Holds 64 sizes of each of 4,000 kinds of calls. */
export function createObservedCosts(): ObservedCosts {
  const sizes = new BoundedMap<string, number[]>(MAX_KINDS)

  function add(kind: string, tokens: number): void {
    const latest = sizes.get(kind) ?? []
    if (latest.length === WINDOW) latest.shift()
    latest.push(tokens)
    sizes.set(kind, latest)
  }

  function shareOf(kind: string, least: number): number | undefined {
    const latest = sizes.get(kind) ?? []
    if (latest.length < least) return undefined
    return latest.toSorted((a, b) => a - b)[Math.floor(SHARE * latest.length)]
  }

  return {
    observe(tool, names, tokens) {
      add(kindOf(tool), tokens)
      if (names !== undefined) add(kindOf(tool, names), tokens)
    },
    expected(tool, names) {
      const alike = names === undefined ? undefined : shareOf(kindOf(tool, names), LEAST_ALIKE)
      return alike ?? shareOf(kindOf(tool), LEAST_RESULTS)
    },
  }
}

function kindOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
