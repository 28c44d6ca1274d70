import type { Json } from '../../test/support/plain-readers/json.ts'
import { type Arm, type ArmServices, isRaw } from './arms.ts'
import type { Conversation, Dialect, Turn, Usage } from './dialects.ts'
import { makeTask } from './make-task.ts'
import { perform, TOOLS } from './world.ts'

const MOST_STEPS = 80
const CHARS_OF_A_TOKEN = 3
const TIME_LIMIT_MS = 600_000
const SYSTEM =
  'You solve tasks with the tools that you are given. Make one call at a time. When the task is done, call the tool answer. Lines that begin with "> [" are notes about a result: they refer to earlier results of this conversation, or name what can be fetched.'

/** How the model is reached, whatever the arm. */
export interface ModelTerms {
  readonly dialect: Dialect
  readonly model: string
  readonly key: string
}

const NOTHING: Usage = { fresh: 0, read: 0, written: 0, output: 0 }

const sum = (a: Usage, b: Usage): Usage => ({
  fresh: a.fresh + b.fresh,
  read: a.read + b.read,
  written: a.written + b.written,
  output: a.output + b.output,
})

/** Asks the model once. Returns why not if there is no answer. */
async function ask(
  conversation: Conversation,
  url: string,
  { dialect, model, key }: ModelTerms,
  headers: Readonly<Record<string, string>>,
) {
  const terms = { model, system: SYSTEM, tools: TOOLS }
  const body = JSON.stringify(dialect.writeRequest(conversation, terms))
  try {
    const response = await fetch(url + dialect.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...dialect.headers(key), ...headers },
      body,
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    })
    const { status, ok } = response
    const text = await response.text()
    // 400 is the conversation's fault: the same would happen again.
    if (!ok) return { why: `${status} ${text.slice(0, 300)}`, isProvider: status !== 400 }
    const answer = dialect.readAnswer(JSON.parse(text) as { [key: string]: Json })
    const estimate = { ...NOTHING, fresh: body.length / CHARS_OF_A_TOKEN }
    return { ...answer, spent: answer.usage ?? estimate }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error), isProvider: true }
  }
}

/** The task of a seed, done in one arm. */
export interface Run {
  readonly arm: Arm
  readonly turns: readonly Turn[]
  /** Requests to the model. */
  readonly steps: number
  /** `null` if an answer came without usage. */
  readonly usage: Usage | null
  /** The same, with an estimate of what came without usage. */
  readonly spent: Usage
  /** What is wrong at the end, or why it ended before; `null` if the task is solved. */
  readonly wrong: string | null
  /** Whether the provider ended it. */
  readonly isProvider: boolean
}

/**
 * Does the task of a seed in one arm, until the agent answers, a limit is met, or the provider
 * fails.
 */
export async function runArm(
  seed: number,
  arm: Arm,
  services: Pick<ArmServices, 'url'>,
  {
    terms,
    session,
    mayGoOn = () => true,
  }: {
    readonly terms: ModelTerms
    /** Names the conversation to the service. */
    readonly session: string
    mayGoOn?(spent: Usage): boolean
  },
): Promise<Run> {
  const task = makeTask(seed)
  const world = task.createWorld()
  const headers = {
    'x-claude-code-session-id': session,
    ...(isRaw(arm) ? { 'x-haversack-bypass': 'true' } : {}),
  }
  const turns: Turn[] = []
  let [steps, isKnown, spent] = [0, true, NOTHING]
  const end = (wrong: string | null, isProvider = false): Run => {
    return { arm, turns, steps, usage: isKnown ? spent : null, spent, wrong, isProvider }
  }
  while (steps < MOST_STEPS) {
    if (!mayGoOn(spent)) return end('the budget is spent')
    const said = await ask({ prompt: task.prompt, turns }, services.url(arm), terms, headers)
    if ('why' in said) return end(said.why, said.isProvider)
    const { usage, spent: own, ...turn } = said
    spent = sum(spent, own)
    isKnown &&= usage !== null
    steps++
    if (turn.calls.length === 0) return end('it made no call')
    const results = []
    for (const { name, args } of turn.calls) results.push(await perform(world, name, args))
    turns.push({ ...turn, results })
    if (world.answer !== undefined) return end(await task.grade(world))
  }
  return end(`no answer after ${MOST_STEPS} steps`)
}
