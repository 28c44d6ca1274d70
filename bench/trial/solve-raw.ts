import { solverOf } from './make-task.ts'
import { runTests } from './run-tests.ts'
import { readRaw } from './solving.ts'
import type { Task, World } from './task.ts'
import { perform } from './world.ts'

/** A solver's work on unchanged results, which proves that a task can be solved. */
export interface Solved {
  readonly world: World
  readonly calls: number
  /** Characters of each result. */
  readonly sizes: readonly number[]
  /** What is wrong; `null` if the task is solved. */
  readonly wrong: string | null
}

/** @param run what runs the tests of a repository */
export async function solveRaw(task: Task, run = runTests): Promise<Solved> {
  const world = task.createWorld()
  const texts: string[] = []
  const solving = solverOf(task.prompt)
  const sizes = () => texts.map(({ length }) => length)
  let next = solving.next()
  while (next.done !== true) {
    const { at, as, note } = next.value
    if (typeof at !== 'number') {
      const { text, isError } = await perform(world, at.tool, at.args, run)
      if (isError) {
        return { world, calls: texts.length + 1, sizes: sizes(), wrong: `${at.tool}: ${text}` }
      }
      texts.push(text)
    }
    const text = texts[typeof at === 'number' ? at : texts.length - 1]!
    next = solving.next(note(readRaw(text, as)))
  }
  return { world, calls: texts.length, sizes: sizes(), wrong: await task.grade(world) }
}
