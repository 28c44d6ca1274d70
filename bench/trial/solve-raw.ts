import type { Turn } from './dialects.ts'
import { nextAnswer } from './plain-model.ts'
import { runTests } from './run-tests.ts'
import { readRaw } from './solving.ts'
import type { Task, World } from './task.ts'
import { perform } from './world.ts'

/** A solver's work on unchanged results, which proves that a task can be solved. */
export interface Solved {
  readonly world: World
  /** Characters of the result of each call. */
  readonly sizes: readonly number[]
  /** What is wrong; `null` if the task is solved. */
  readonly wrong: string | null
}

/** @param run what runs the tests of a repository */
export async function solveRaw(task: Task, run = runTests): Promise<Solved> {
  const world = task.createWorld()
  const turns: Turn[] = []
  const end = (wrong: string | null): Solved => {
    const sizes = turns.flatMap(({ results }) => results.map(({ text }) => text.length))
    return { world, sizes, wrong }
  }
  while (world.answer === undefined) {
    const { said, calls } = nextAnswer({ prompt: task.prompt, turns }, false, (view, at, as) => {
      return readRaw(view.calls[at]!.text, as)
    })
    const [{ name, args }] = calls as [(typeof calls)[number]]
    const result = await perform(world, name, args, run)
    turns.push({ said, calls, results: [result] })
    if (result.isError) return end(`${name}: ${result.text}`)
  }
  return end(await task.grade(world))
}
