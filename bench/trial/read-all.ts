import { createLocalContext } from '../../src/library/local-context.ts'
import { type Arm, type StartArm, startArms } from './arms.ts'
import { ANTHROPIC, type Conversation, type Dialect } from './dialects.ts'
import { kindOf } from './make-task.ts'
import { type Read, startPlainModel } from './plain-model.ts'
import { firstMisread, runArm } from './run-arm.ts'

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
 * @param armsOf the arms of a seed
 */
export async function readAll(
  seeds: readonly number[],
  armsOf: (seed: number) => readonly Arm[],
  {
    dialect = ANTHROPIC,
    read,
    start,
  }: {
    readonly dialect?: Dialect
    readonly read?: Read
    readonly start?: StartArm
  } = {},
): Promise<ReadAll> {
  const { counters } = createLocalContext()
  const count = (text: string) => counters.get('o200k_base').count(text)
  const rows = new Map<Arm, ArmRead>()
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
  const arms = [...new Set(seeds.flatMap(armsOf))]
  const services = await startArms(arms, model.url, {
    vendor: dialect.vendor,
    isEager: true,
    start,
  })
  try {
    for (const seed of seeds) {
      for (const arm of armsOf(seed)) {
        ;[tokens, changed, sent] = [0, null, { prompt: '', turns: [] }]
        const terms = { dialect, model: 'plain-reader', key: 'none' }
        const session = `trial-${seed}-${arm}`
        const run = await runArm(seed, arm, services, { terms, session, mayGoOn: () => true })
        const misread = firstMisread(sent, run.work)
        // What is cleared changes.
        const wrong = run.wrong ?? (arm === 'clearing' ? null : changed)
        const isRight = wrong === null && misread === null
        const row = rows.get(arm) ?? { arm, tasks: 0, solved: 0, steps: 0, fetches: 0, tokens: 0 }
        rows.set(arm, row)
        row.tasks++
        row.solved += isRight ? 1 : 0
        row.steps += run.work.steps
        row.tokens += tokens
        row.fetches += sent.turns.filter(
          ({ calls }) => calls[0]?.name === 'haversack_retrieve',
        ).length
        if (!isRight) faults.push(faultOf(seed, arm, wrong, misread))
      }
    }
  } finally {
    await services.close()
    await model.close()
  }
  return { arms: [...rows.values()], faults }
}

function faultOf(
  seed: number,
  arm: Arm,
  wrong: string | null,
  misread: ReturnType<typeof firstMisread>,
): string {
  const at = `seed ${seed} (${kindOf(seed).name}), ${arm}`
  if (misread === null) return `${at}: ${wrong}`
  const text = misread.text.slice(0, MOST_CHARS)
  return `${at}, call ${misread.call + 1} is read otherwise${wrong === null ? '' : ` (${wrong})`}:\n${text}`
}

/** The first result that is not as it was sent before, so that no cache has what follows. */
function changeIn(before: Conversation, now: Conversation): string | null {
  const textsOf = ({ turns }: Conversation) =>
    turns.flatMap(({ results }) => results.map(({ text }) => text))
  const texts = textsOf(now)
  const at = textsOf(before).findIndex((text, i) => texts[i] !== text)
  return at === -1
    ? null
    : `result ${at + 1} is sent as another text: ${texts[at]?.slice(0, MOST_CHARS)}`
}
