import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import type { RouteName } from '../src/core/dialects/lookup.ts'
import { pipelineSchema } from '../src/core/pipeline/profile/pipeline-config.ts'
import { createRandom, type Random } from '../src/lab/bill/statistics.ts'
import { createLocalContext } from '../src/library/local-context.ts'
import { createRewriteChecks } from '../test/support/turns/check-rewrites.ts'
import {
  type PlayedConversation,
  startConversation,
} from '../test/support/turns/play-conversation.ts'
import { startRecordingVendor } from '../test/support/turns/recording-vendor.ts'
import { startServices } from '../test/support/turns/services.ts'
import { publish } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { type Conversation, conversationsOf, MODELS, turnsOf } from './turns/conversations.ts'
import { type ShapeReport, turnsReport } from './turns/report.ts'

/**
 * npm run bench -- turns CORPUS [--sample N --only SHAPE,… --write]
 *
 * Every recorded conversation, turn by turn in each shape of requests, through two services
 * with one data folder that are ended all the while, and get another `pipeline_config.toml` at
 * restarts and reloads: whether what arrives at the vendor begins in each turn as it did before,
 * and how many tokens that saves. `--sample` plays each N-th conversation, `--only` some shapes.
 */

const options = readOptions({
  corpus: REQUIRED,
  sample: 1,
  only: Object.keys(MODELS) as RouteName[],
  write: false,
})

const MOST_TURNS = 24
const TURNS_A_RESTART = 120
const TURNS_A_RELOAD = 12
const AT_ONCE = 4
/**
 * One of so many conversations defines a tool that gives originals back, so that results may leave
 * with parts missing.
 */
const RETRIEVING_EACH = 3
const RETRIEVING_TOOL = 'headroom_retrieve'

/** Before and after the change. */
const PIPELINES = [
  '',
  '[mckp]\nformats_enabled = ["json_compact", "ndjson", "tree"]\nrecursion_depth = 1\n[hints.types.lines]\nenabled = false\n[views]\npressure = [{ from_tokens = 4_000, level = "compact" }]\n',
] as const

const conversations = conversationsOf(options.corpus).filter((_, n) => n % options.sample === 0)
const checks = createRewriteChecks(
  createLocalContext(),
  PIPELINES.map(toml => pipelineSchema.parse(parse(toml))),
)

/** A conversation with the turns that are still to be played. */
interface Ongoing {
  readonly conversation: Conversation
  readonly played: PlayedConversation
  readonly turns: readonly number[]
  /** Draws the service of its next turn. */
  readonly random: Random
}

async function playShape(route: RouteName): Promise<ShapeReport> {
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-turns-'))
  const vendor = await startRecordingVendor()
  const services = await startServices({ folder, upstream: vendor.url, pipeline: PIPELINES[0] })
  const model = MODELS[route]
  // OpenAI's two differ in where a result stands, and hardly in anything else.
  const each = route === 'anthropic_messages' || route === 'openai_chat' ? 1 : 5
  const chosen = conversations.filter((_, n) => n % each === 0)
  const all = chosen.map((conversation, n): Ongoing => {
    const { name, steps } = conversation
    const own = [...new Set(steps.map(({ tool }) => tool))]
    const tools = n % RETRIEVING_EACH === 0 ? [...own, RETRIEVING_TOOL] : own
    const terms = { model, tools }
    const options = { name, route, terms, services, vendor, checks }
    const played = startConversation(steps, options)
    const random = createRandom(n + 1)
    return { conversation, played, turns: turnsOf(conversation, MOST_TURNS), random }
  })

  const restarts = { SIGTERM: 0, SIGKILL: 0 }
  let turns = 0
  let reloads = 0
  let restarting: Promise<void> | null = null

  /** Ends one of them, each in turn and each way in turn, as soon as an answer is there. */
  function disturb(): void {
    turns++
    if (turns % TURNS_A_RELOAD === 0) {
      // Each of the first two has either configuration in turn.
      services.reload(reloads % 2, PIPELINES[(reloads >> 1) % 2 === 0 ? 1 : 0])
      reloads++
    }
    if (turns % TURNS_A_RESTART !== 0 || restarting !== null) return
    const n = restarts.SIGTERM + restarts.SIGKILL
    const signal = n % 2 === 0 ? 'SIGKILL' : 'SIGTERM'
    restarts[signal]++
    restarting = services.restart((n >> 1) % 2 === 0 ? 0 : 1, signal).finally(() => {
      restarting = null
    })
  }

  /** Plays the turns of one third of each conversation, several conversations at once. */
  async function playThird(third: number): Promise<void> {
    const waiting = [...all]
    const next = async (): Promise<void> => {
      for (let ongoing = waiting.shift(); ongoing !== undefined; ongoing = waiting.shift()) {
        const { played, turns: ends, random } = ongoing
        const [from, to] = [third, third + 1].map(n => Math.round((n * ends.length) / 3))
        for (const end of ends.slice(from, to)) {
          await played.play(end, random(services.count))
          if (turns % 20 === 0) await services.look()
          disturb()
        }
      }
    }
    const many = Math.min(AT_ONCE, all.length)
    await Promise.all(Array.from({ length: many }, next))
    await restarting
  }

  await playThird(0)
  await services.restart(0, 'SIGTERM', PIPELINES[1])
  await playThird(1)
  await services.restart(1, 'SIGTERM', PIPELINES[1])
  await playThird(2)
  await services.look()
  await services.close()
  await vendor.close()
  rmSync(folder, { recursive: true })
  const seconds = (performance.now() - started) / 1000
  const results = all.map(({ conversation, played }) => ({
    source: conversation.source,
    counts: played.counts,
  }))
  return { route, seconds, restarts, services: services.counts, conversations: results }
}

const reports: ShapeReport[] = []
for (const route of options.only) {
  const shape = await playShape(route)
  reports.push(shape)
  process.stderr.write(
    `${route}: ${shape.conversations.length} in ${Math.round(shape.seconds)} s\n`,
  )
}
const report = turnsReport(reports, { mostTurns: MOST_TURNS, sample: options.sample })
publish('turns', [report], options.write)
if (reports.some(each => each.conversations.some(({ counts }) => counts.changed > 0))) {
  process.exitCode = 1
}
