import { isDeepStrictEqual } from 'node:util'
import { type Endpoint, type Work, work } from './agent.ts'
import { type Arm, type ArmServices, isRaw } from './arms.ts'
import type { Conversation, Dialect, Usage } from './dialects.ts'
import { makeTask } from './make-task.ts'
import { LeftOut, readShown, type View } from './read-shown.ts'
import { type Reading, readRaw } from './solving.ts'

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
export interface Misread {
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
