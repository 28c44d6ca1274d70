/** Sizes of results as they come, by tool, for plans that follow. */
export interface ObservedCosts {
  observe(tool: string, tokens: number): void
  /** The median of the latest results; `undefined` until there are twenty. */
  median(tool: string): number | undefined
}

const LEAST_RESULTS = 20
/** Results that the median is of. */
const WINDOW = 64
const MAX_TOOLS = 1_000

/** Holds 64 sizes of each of 1,000 tools. */
export function createObservedCosts(): ObservedCosts {
  const sizes = new Map<string, number[]>()
  return {
    observe(tool, tokens) {
      const latest = sizes.get(tool) ?? []
      if (sizes.size >= MAX_TOOLS && !sizes.has(tool)) {
        sizes.delete(sizes.keys().next().value as string)
      }
      if (latest.length === WINDOW) latest.shift()
      latest.push(tokens)
      sizes.set(tool, latest)
    },
    median(tool) {
      const latest = sizes.get(tool) ?? []
      if (latest.length < LEAST_RESULTS) return undefined
      return latest.toSorted((a, b) => a - b)[latest.length >> 1]
    },
  }
}
