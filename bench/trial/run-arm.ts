import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { type Arm, type ArmServices, isRaw } from './arms.ts'
import type { Conversation, Dialect, Turn, Usage } from './dialects.ts'
import { makeTask } from './make-task.ts'
import { LeftOut, readShown, type View } from './read-shown.ts'
import { type Reading, readRaw } from './solving.ts'
import type { Task, World } from './task.ts'
import { perform, TOOLS } from './world.ts'

/** Where the model is, and how it is asked. */
interface Endpoint {
  readonly url: string
  readonly dialect: Dialect
  readonly model: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
}

/** What an agent did with a task. */
interface Work {
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
async function work(
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

/** The task of a seed, done in one arm. */
export interface Run {
  readonly arm: Arm
  readonly work: Work
  /** What is wrong at the end; `null` if the task is solved. */
  readonly wrong: string | null
}

/** How the model is reached, whatever the arm. */
export interface ModelTerms {
  readonly dialect: Dialect
  readonly model: string
  readonly key: string
}

/** Does the task of a seed in one arm. */
export async function runArm(
  seed: number,
  arm: Arm,
  services: Pick<ArmServices, 'url'>,
  {
    terms,
    session,
    mayGoOn,
  }: {
    readonly terms: ModelTerms
    /** Names the conversation to the service. */
    readonly session: string
    mayGoOn(spent: Usage): boolean
  },
): Promise<Run> {
  const task = makeTask(seed)
  const headers = {
    'x-claude-code-session-id': session,
    ...(isRaw(arm) ? { 'x-haversack-bypass': 'true' } : {}),
  }
  const endpoint: Endpoint = { ...terms, headers, url: services.url(arm) }
  const done = await work(task, endpoint, mayGoOn)
  const wrong = done.failure === null ? await task.grade(done.world) : done.failure.why
  return { arm, work: done, wrong }
}

/** A result that a plain reader takes for another one. */
interface Misread {
  readonly call: number
  readonly text: string
}

/**
 * The first result of a conversation, as the model got it, that a plain reader does not read as
 * what the tool gave; `null` if there is none. Texts whose originals were not fetched are passed
 * over, since the reader knows that they lack something.
 */
export function firstMisread(sent: Conversation, { turns }: Pick<Work, 'turns'>): Misread | null {
  const calls = sent.turns.flatMap(turn =>
    turn.calls.map((call, at) => ({ call, text: turn.results[at]?.text ?? '' })),
  )
  const isFetch = ({ call }: (typeof calls)[number]) => call.name === 'haversack_retrieve'
  const fetched = new Map(
    calls.filter(isFetch).map(({ call, text }) => [String(call.args['hash']), text]),
  )
  const view: View = { calls, fetched }
  const raw = turns.flatMap(({ results }) => results)
  let made = 0
  for (const [call, each] of calls.entries()) {
    if (isFetch(each)) continue
    const { text } = raw[made++] ?? { text: '' }
    const as = readingOf(each.call.name, text)
    try {
      if (isDeepStrictEqual(readShown(view, call, as), readRaw(text, as))) continue
    } catch (error) {
      if (error instanceof LeftOut) continue
    }
    return { call, text: each.text }
  }
  return null
}

function readingOf(tool: string, text: string): Reading {
  if (tool === 'read') return 'numbered'
  try {
    return typeof JSON.parse(text) === 'object' ? 'json' : 'lines'
  } catch {
    return 'lines'
  }
}
