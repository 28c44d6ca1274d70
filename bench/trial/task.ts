import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Solving } from './solving.ts'

/** What an agent works in: files, and an API that answers with texts. */
export interface World {
  readonly files: Map<string, string>
  /** The text of an API's answer; `null` if there is no such path. */
  api(path: string): string | null
  /** What the agent answered. */
  answer?: string
}

/** Work that is computed from a seed, and whose end can be graded. */
export interface Task {
  readonly prompt: string
  /** The world as it is before the work; each call makes a new one. */
  createWorld(): World
  /** What is wrong with the world after the work; `null` if nothing is. */
  grade(world: World): Promise<string | null>
  /** What a solver answers who is right. */
  readonly answer: string
}

/** A kind of tasks: how they are made, and how they are solved by their prompt alone. */
export interface TaskKind {
  readonly name: string
  make(random: Random): Task
  /** `null` if the prompt is not of this kind. */
  solve(prompt: string): Solving<void> | null
}
