import type { Json } from '../../test/support/plain-readers/json.ts'
import type { Dialect, Turn, Usage } from './dialects.ts'
import type { Task, World } from './task.ts'
import { perform, TOOLS } from './world.ts'

/** Where the model is, and how it is asked. */
export interface Endpoint {
  readonly url: string
  readonly dialect: Dialect
  readonly model: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
}

/** What an agent did with a task. */
export interface Work {
  readonly world: World
  readonly turns: readonly Turn[]
  /** Requests to the model. */
  readonly steps: number
  /** `null` if an answer came without usage. */
  readonly usage: Usage | null
  /** The same, with an estimate of what came without usage. */
  readonly spent: Usage
  /** Why it ended before its answer; `null` if it did not. */
  readonly failure: { readonly why: string; readonly isProvider: boolean } | null
}

const MOST_STEPS = 80
const CHARS_OF_A_TOKEN = 3
const TIME_LIMIT_MS = 600_000
const SYSTEM =
  'You solve tasks with the tools that you are given. Make one call at a time. When the task is done, call the tool answer. Lines that begin with "> [" are notes about a result: they refer to earlier results of this conversation, or name what can be fetched.'

/** Works on a task until the agent answers, a limit is met, or the provider fails. */
export async function work(
  task: Task,
  endpoint: Endpoint,
  mayGoOn: (spent: Usage) => boolean,
): Promise<Work> {
  const world = task.createWorld()
  const turns: Turn[] = []
  let [steps, isKnown, spent] = [0, true, NOTHING]
  const end = (why: string | null, isProvider = false): Work => {
    const failure = why === null ? null : { why, isProvider }
    return { world, turns, steps, usage: isKnown ? spent : null, spent, failure }
  }
  while (steps < MOST_STEPS) {
    if (!mayGoOn(spent)) return end('the budget is spent')
    const asked = await ask(task.prompt, turns, endpoint)
    if ('why' in asked) return end(asked.why, asked.isProvider)
    const { said, calls, message, usage } = asked.answer
    spent = sum(spent, usage ?? { ...NOTHING, fresh: asked.sent / CHARS_OF_A_TOKEN })
    isKnown &&= usage !== null
    steps++
    if (calls.length === 0) return end('it made no call')
    const results = []
    for (const { name, args } of calls) results.push(await perform(world, name, args))
    turns.push({ said, calls, results, ...(message === undefined ? {} : { message }) })
    if (world.answer !== undefined) return end(null)
  }
  return end(`no answer after ${MOST_STEPS} steps`)
}

const NOTHING: Usage = { fresh: 0, read: 0, written: 0, output: 0 }

const sum = (a: Usage, b: Usage): Usage => ({
  fresh: a.fresh + b.fresh,
  read: a.read + b.read,
  written: a.written + b.written,
  output: a.output + b.output,
})

async function ask(prompt: string, turns: readonly Turn[], endpoint: Endpoint) {
  const { url, dialect, model, key, headers } = endpoint
  const terms = { model, system: SYSTEM, tools: TOOLS }
  const body = JSON.stringify(dialect.writeRequest({ prompt, turns }, terms))
  try {
    const response = await fetch(url + dialect.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...dialect.headers(key), ...headers },
      body,
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    })
    const text = await response.text()
    // 400 is the conversation's fault: the same would happen again.
    if (!response.ok)
      return {
        why: `${response.status} ${text.slice(0, 300)}`,
        isProvider: response.status !== 400,
      }
    const answer = dialect.readAnswer(JSON.parse(text) as { [key: string]: Json })
    return { answer, sent: body.length }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error), isProvider: true }
  }
}
