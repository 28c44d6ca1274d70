import type { SolveOptions } from './problem.ts'

/** The work that a search may do: a count of states generated, and a caller's way to stop it. */
export interface Work {
  readonly states: number
  /** Whether so many more states may be generated. */
  allows(more: number): boolean
  add(more: number): void
}

export function createWork({ maxStates, shouldStop }: SolveOptions): Work {
  let states = 0
  let isStopped = false
  return {
    get states() {
      return states
    },
    allows(more) {
      isStopped ||= shouldStop?.() === true
      return !isStopped && states + more <= maxStates
    },
    add(more) {
      states += more
    },
  }
}
