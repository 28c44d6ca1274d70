import { DEFAULT_PRICES } from '../src/core/conversation/usage/billing.ts'
import { pipelineSchema } from '../src/core/pipeline/profile/pipeline-config.ts'
import { billOf, playWhole } from './clearing/play-whole.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { conversationsOf } from './turns/conversations.ts'

/**
 * npm run bench -- clearing CORPUS [--sample N] [--keep N] [--results N] [--least N]
 *   [--fetched PERCENT] [--life SECONDS]
 *
 * Recorded conversations of at least so many results, turn by turn and with so many parallel calls
 * a turn, as Anthropic's requests with a tool that fetches originals: what they cost without the
 * service, with it, and with clearing. Each turn must have the one before as its prefix, except for
 * planned steps. If an edit quotes a line that a marker has left out or that was cleared, so much of
 * the original is billed as fetched, with and without clearing. With a life the provider's cache
 * forgets a prefix that was not used for so long, by the recorded times; 0: it forgets nothing.
 */
const options = readOptions({
  corpus: REQUIRED,
  sample: 1,
  keep: 16,
  results: 3,
  least: 1,
  fetched: 100,
  life: 0,
})
const terms = {
  prices: DEFAULT_PRICES.anthropic,
  each: options.results,
  share: options.fetched / 100,
  lifeSeconds: options.life === 0 ? Number.POSITIVE_INFINITY : options.life,
}
const plain = pipelineSchema.parse({})
const clearing = pipelineSchema.parse({ clearing: { enabled: true, keep_newest: options.keep } })

interface Sums {
  conversations: number
  turns: number
  raw: number
  plain: number
  cleared: number
  steps: number
  /** Without clearing, and with it. */
  fetchedBefore: number
  fetched: number
  dearerBefore: number
  dearer: number
  /** Than with the service but without clearing. */
  worse: number
  /** By which share the worst of them is. */
  most: number
  changes: number
}

const NONE: Sums = {
  conversations: 0,
  turns: 0,
  raw: 0,
  plain: 0,
  cleared: 0,
  steps: 0,
  fetchedBefore: 0,
  fetched: 0,
  dearerBefore: 0,
  dearer: 0,
  worse: 0,
  most: 0,
  changes: 0,
}

const sources = new Map<string, Sums>()
const all = { ...NONE }
const conversations = conversationsOf(options.corpus)
  .filter(({ steps }) => steps.length >= options.least)
  .filter((_, n) => n % options.sample === 0)
for (const { source, steps } of conversations) {
  const own = sources.get(source) ?? { ...NONE }
  sources.set(source, own)
  const raw = playWhole(steps, null, terms)
  const without = playWhole(steps, plain, terms)
  const cleared = playWhole(steps, clearing, terms)
  for (const sums of [own, all]) {
    sums.conversations++
    sums.turns += raw.turns
    sums.raw += billOf(raw)
    sums.plain += billOf(without)
    sums.cleared += billOf(cleared)
    sums.steps += cleared.steps
    sums.fetchedBefore += without.fetched
    sums.fetched += cleared.fetched
    sums.dearerBefore += billOf(without) > billOf(raw) ? 1 : 0
    sums.dearer += billOf(cleared) > billOf(raw) ? 1 : 0
    sums.worse += billOf(cleared) > billOf(without) ? 1 : 0
    sums.most = Math.max(sums.most, billOf(cleared) / billOf(without) - 1)
    sums.changes += without.changes + cleared.changes - cleared.steps
  }
}
const saved = (part: number, whole: number) => `${(100 - (100 * part) / whole).toFixed(1)} %`
const rows = [...sources, ['all', all] as const].map(([source, sums]) => [
  source,
  String(sums.conversations),
  String(sums.turns),
  saved(sums.plain, sums.raw),
  String(sums.fetchedBefore),
  String(sums.dearerBefore),
  saved(sums.cleared, sums.raw),
  String(sums.steps),
  String(sums.fetched),
  String(sums.dearer),
  String(sums.worse),
  `${(100 * sums.most).toFixed(1)} %`,
  String(sums.changes),
])
const header = [
  'source',
  'conversations',
  'turns',
  'saved of the bill',
  'fetched',
  'dearer',
  'with clearing',
  'steps',
  'fetched',
  'dearer',
  'than without clearing',
  'at most',
  'other changes',
]
process.stdout.write(`${JSON.stringify(machine())}\n\n${markdownTable(header, rows)}\n`)
if (all.changes > 0) process.exitCode = 1
