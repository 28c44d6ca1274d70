import { BoundedMap } from '../base/bounded-map.ts'

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

/** Sizes of results as they come, for plans that follow: 64 of each of 4,000 kinds of calls. */
export class ObservedCosts {
  readonly #sizes = new BoundedMap<string, number[]>(MAX_KINDS)

  /** @param names `argumentNames` of the call */
  observe(tool: string, names: string | undefined, tokens: number): void {
    this.#add(kindOf(tool), tokens)
    if (names !== undefined) this.#add(kindOf(tool, names), tokens)
  }

  /**
   * Tokens that four of five results stay within: of the latest calls with these arguments, if
   * there were eight, else of the tool's latest calls, if there were twenty.
   */
  expected(tool: string, names: string | undefined): number | undefined {
    const alike = names === undefined ? undefined : this.#share(kindOf(tool, names), LEAST_ALIKE)
    return alike ?? this.#share(kindOf(tool), LEAST_RESULTS)
  }

  #add(kind: string, tokens: number): void {
    const latest = this.#sizes.get(kind) ?? []
    this.#sizes.set(kind, [...latest.slice(1 - WINDOW), tokens])
  }

  #share(kind: string, least: number): number | undefined {
    const latest = this.#sizes.get(kind) ?? []
    if (latest.length < least) return undefined
    return latest.toSorted((a, b) => a - b)[Math.floor(SHARE * latest.length)]
  }
}

function kindOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
