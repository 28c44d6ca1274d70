import { isDeepStrictEqual } from 'node:util'
import { createLocalContext } from '../../src/library/local-context.ts'
import { LeftOut, readShown, viewOf } from '../../test/support/plain-readers/read-shown.ts'
import { type Arm, type StartArm, startArms } from './arms.ts'
import { ANTHROPIC, type Conversation, type Dialect } from './dialects.ts'
import { kindOf } from './make-task.ts'
import { type Read, startPlainModel } from './plain-model.ts'
import { type Run, runArm } from './run-arm.ts'
import { type Reading, readRaw } from './solving.ts'

/** What a plain reader did in one arm. */
export interface ArmRead {
  readonly arm: Arm
  tasks: number
  solved: number
  steps: number
  fetches: number
  /** Tokens of results as they were sent first (o200k_base). */
  tokens: number
}

export interface ReadAll {
  readonly arms: readonly ArmRead[]
  /** Lines that name seed, arm, call and text of what went wrong. */
  readonly faults: readonly string[]
}

const MOST_CHARS = 600

/**
 * Has a plain reader do the tasks of the seeds in each arm. Beside the end of each task, it compares
 * what the reader reads of every result with what the tool gave.
 */
export async function readAll(
  seeds: readonly number[],
  arms: readonly Arm[],
  {
    dialect = ANTHROPIC,
    read,
    start,
  }: { readonly dialect?: Dialect; readonly read?: Read; readonly start?: StartArm } = {},
): Promise<ReadAll> {
  const { counters } = createLocalContext()
  const { count } = counters.get('o200k_base')
  const faults: string[] = []
  let sent: Conversation = { prompt: '', turns: [] }
  let [tokens, changed] = [0, null as string | null]
  const model = await startPlainModel(conversation => {
    changed ??= changeIn(sent, conversation)
    sent = conversation
    const shown = conversation.turns.at(-1)?.results ?? []
    const fresh = shown.reduce((sum, { text }) => sum + count(text), 0)
    tokens += fresh
    return { fresh, read: 0, written: 0, output: 0 }
  }, read)
  const about = { vendor: dialect.vendor, isEager: true, start }
  const services = await startArms(arms, model.url, about)
  const rows = arms.map((arm): ArmRead => {
    return { arm, tasks: 0, solved: 0, steps: 0, fetches: 0, tokens: 0 }
  })
  try {
    for (const seed of seeds) {
      for (const row of rows) {
        ;[tokens, changed, sent] = [0, null, { prompt: '', turns: [] }]
        const terms = { dialect, model: 'plain-reader', key: 'none' }
        const session = `trial-${seed}-${row.arm}`
        const run = await runArm(seed, row.arm, services, { terms, session })
        // What is cleared changes.
        const wrong = run.wrong ?? (row.arm === 'clearing' ? null : changed)
        const fault = firstMisread(sent, run) ?? wrong
        const { calls, own } = viewOf(sent)
        row.tasks++
        row.solved += fault === null ? 1 : 0
        row.steps += run.steps
        row.tokens += tokens
        row.fetches += calls.length - own.length
        if (fault === null) continue
        const why = fault === wrong || wrong === null ? '' : ` (${wrong})`
        faults.push(`seed ${seed} (${kindOf(seed).name}), ${row.arm}${why}: ${fault}`)
      }
    }
  } finally {
    await services.close()
    await model.close()
  }
  return { arms: rows, faults }
}

/** The first result that is not as it was sent before, so that no cache has what follows. */
function changeIn(before: Conversation, now: Conversation): string | null {
  const [texts, earlier] = [now, before].map(each => viewOf(each).calls.map(({ text }) => text))
  const at = earlier!.findIndex((text, i) => texts![i] !== text)
  const text = texts![at]?.slice(0, MOST_CHARS)
  return at === -1 ? null : `result ${at + 1} is sent as another text: ${text}`
}

/**
 * The first result of a conversation, as the model got it, that a plain reader does not read as
 * what the tool gave; `null` if there is none. Texts whose originals were not fetched are passed
 * over, since the reader knows that they lack something.
 */
function firstMisread(sent: Conversation, { turns }: Run): string | null {
  const view = viewOf(sent)
  const raw = turns.flatMap(({ results }) => results)
  for (const [made, at] of view.own.entries()) {
    const { call, text: shown } = view.calls[at]!
    const { text } = raw[made] ?? { text: '' }
    const as = readingOf(call.name, text)
    try {
      if (isDeepStrictEqual(readShown(view, at, as), readRaw(text, as))) continue
    } catch (error) {
      if (error instanceof LeftOut) continue
    }
    return `call ${at + 1} is read otherwise:\n${shown.slice(0, MOST_CHARS)}`
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
