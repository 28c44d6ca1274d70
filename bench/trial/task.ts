import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Solving } from './solving.ts'

type Files = ReadonlyMap<string, string>
/** The text of an API's answer; `null` if there is no such path. */
type Api = (path: string) => string | null

/** What an agent works in: files, and an API that answers with texts. */
export interface World {
  readonly files: Map<string, string>
  readonly api: Api
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
  /** Fits prompts of this kind; the solver gets its groups. */
  readonly prompt: RegExp
  solve(...asked: readonly string[]): Solving<void>
}

interface Builder {
  readonly files?: Files
  /** The files at the end; absent: as they were. */
  readonly right?: Files
  /** The one file that may be written in several ways, and what is wrong with it. */
  readonly free?: { readonly path: string; check(files: Files): Promise<string | null> }
  createApi?(): Api
}

/** Builds a task whose end is right if the answer and all files are. */
export function taskOf(
  prompt: string,
  answer: string,
  { files = new Map(), right = files, free, createApi = () => () => null }: Builder,
): Task {
  return {
    prompt,
    answer,
    createWorld: () => ({ files: new Map(files), api: createApi() }),
    async grade(world) {
      if (world.answer !== answer) return `the answer is ${world.answer}, not ${answer}`
      const paths = new Set([...world.files.keys(), ...right.keys()])
      const wrong = [...paths].find(
        path => path !== free?.path && world.files.get(path) !== right.get(path),
      )
      if (wrong !== undefined) return `${wrong} is not as it should be`
      return free === undefined ? null : free.check(world.files)
    },
  }
}
