import { createRandom } from '../../src/lab/bill/statistics.ts'
import { joinTask } from './join-task.ts'
import { logsTask } from './logs-task.ts'
import { pipelineTask } from './pipeline-task.ts'
import { repositoryTask } from './repository-task.ts'
import { settingsTask } from './settings-task.ts'
import type { Solving } from './solving.ts'
import type { Task, TaskKind } from './task.ts'

const KINDS: readonly TaskKind[] = [repositoryTask, joinTask, logsTask, pipelineTask, settingsTask]

/** The kind of a seed's task. */
export const kindOf = (seed: number): TaskKind => KINDS[seed % KINDS.length]!

/** The task of a seed; the same seed gives the same task. */
export function makeTask(seed: number): Task {
  // Neighbouring seeds of the generator begin alike.
  const random = createRandom(Math.imul(seed + 1, 0x9e3779b1))
  for (let n = 0; n < 8; n++) random(2)
  const task = kindOf(seed).make(random)
  // Conversations that begin alike count as one.
  return { ...task, prompt: `Ticket ${1000 + seed}. ${task.prompt}` }
}

/** The solver of a prompt. */
export function solverOf(prompt: string): Solving<void> {
  const kind = KINDS.find(each => each.prompt.test(prompt))
  if (kind === undefined) throw new Error('no solver knows this prompt')
  return kind.solve(...kind.prompt.exec(prompt)!.slice(1))
}
