import { percent } from '../src/console/table.ts'
import {
  type AccountTerms,
  type ArmPlay,
  account,
  type Bill,
  NO_CHANGES,
  totalOf,
} from '../src/lab/bill/account.ts'
import type { PlacedSession } from '../src/lab/bill/place-results.ts'
import { NO_RESULTS } from '../src/lab/bill/play.ts'
import { quartersOf, type Saving, summarize } from '../src/lab/bill/summarize.ts'
import { ladderOf } from './bill/ladder.ts'
import { ARMS } from './bill/play-arms.ts'
import { readCorpus } from './bill/read-corpus.ts'
import { machine } from './support/machine.ts'
import { markdownTable, tableOf } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

/**
 * npm run bench -- bill CORPUS [--sample N] [--arms NAME,…] [--json]
 *
 * What recorded sessions cost by the provider's own usage (`bill/usage.jsonl`), and what they would
 * have cost with each arm: direct, the proxy's settings, and what others do. Prices are Anthropic's
 * of `prices.toml`, in tokens of input that no cache has.
 * A text that an edit needs and that is not visible costs one more call. `--sample` takes each N-th
 * session.
 */
const options = readOptions({
  corpus: REQUIRED,
  sample: 1,
  arms: Object.keys(ARMS),
  json: false,
})

const { recorded, factors, ...unrecorded } = readCorpus(options.corpus, options.sample)

interface Played {
  readonly session: PlacedSession
  readonly plays: ReadonlyMap<string, ArmPlay>
}

function playAll(sessions: readonly PlacedSession[], arms: readonly string[]): readonly Played[] {
  return sessions.map(session => {
    const plays = arms.map(name => [name, ARMS[name]!(session)] as const)
    process.stderr.write('.')
    return { session, plays: new Map([...plays, ['no_results', NO_RESULTS(session)]]) }
  })
}

function pairsOf(played: readonly Played[], arm: string, terms: AccountTerms = {}) {
  const { output } = terms
  return played.map(({ session, plays }) => ({
    direct: totalOf(account(session, NO_CHANGES, output === undefined ? {} : { output })),
    arm: totalOf(account(session, plays.get(arm) ?? NO_CHANGES, terms)),
  }))
}

function rowOf(arm: string, saving: Saving, played: readonly Played[]) {
  const bills = played.map(({ session, plays }) => account(session, plays.get(arm) ?? NO_CHANGES))
  const direct = played.reduce((sum, { session }) => sum + totalOf(account(session, NO_CHANGES)), 0)
  const part = (bucket: keyof Bill) =>
    percent(bills.reduce((sum, bill) => sum + bill[bucket], 0) / direct)
  const needs = played.reduce((sum, { plays }) => sum + (plays.get(arm)?.fetches.length ?? 0), 0)
  return {
    ...{ arm, saved: percent(saving.saved) },
    '95 %': `${percent(saving.low)} to ${percent(saving.high)}`,
    ...{ median: percent(saving.median), 'without the dearest': percent(saving.without_dearest) },
    ...{ read: part('read'), write: part('write'), 'after a pause': part('pause') },
    ...{ 'other miss': part('miss'), rewrite: part('rewrite'), fresh: part('fresh') },
    ...{ output: part('output'), fetches: part('fetch'), needs: String(needs) },
    ...{ dearer: String(saving.dearer), worst: percent(saving.worst) },
  }
}

/** What is said of a set of sessions. */
function reportOf(played: readonly Played[], arms: readonly string[]) {
  const named = [...arms, 'no_results'].map(arm => [arm, summarize(pairsOf(played, arm))] as const)
  const free = (['pauses', 'all'] as const).map(
    freeMisses =>
      [`no_miss_${freeMisses}`, summarize(pairsOf(played, 'direct', { freeMisses }))] as const,
  )
  return { savings: new Map([...named, ...free]), rows: named.map(([n, s]) => rowOf(n, s, played)) }
}

const LADDER = [
  'results and calls, nothing expires',
  '+ recorded misses and writes for an hour',
  '+ system prompt, tools, memory',
  "+ the model's and the user's texts",
  '+ output: what was paid',
]

function ladderRows(played: readonly Played[]): string[][] {
  const steps = played.map(({ session, plays }) =>
    ladderOf(session, plays.get('lossless') ?? NO_CHANGES),
  )
  return LADDER.map((what, at) => {
    const sum = (of: 'whole' | 'saved') => steps.reduce((all, each) => all + each[at]![of], 0)
    return [what, percent(sum('saved') / sum('whole'))]
  })
}

function sensitivityRows(played: readonly Played[], arms: readonly string[]): string[][] {
  const row = (what: string, of: (arm: string) => number) => [
    what,
    ...arms.map(arm => percent(of(arm))),
  ]
  const isHour = ({ session }: Played) => session.calls.some(({ hour }) => hour > 0)
  const among = (chosen: readonly Played[]) => (arm: string) =>
    summarize(pairsOf(chosen, arm)).saved
  const quarters = (what: string, by: (each: Played) => number) =>
    [0, 1, 2, 3].map(at =>
      row(`${what}, quarter ${at + 1}`, arm => {
        const pairs = pairsOf(played, arm)
        return quartersOf(pairs.map((pair, i) => ({ ...pair, by: by(played[i]!) })))[at]!
      }),
    )
  return [
    ...[0.95, 1.05, 1.1].map(packed =>
      row(`packed text at ${packed} of raw text's factor`, arm => {
        return summarize(pairsOf(played, arm, { packed })).saved
      }),
    ),
    ...[0.7, 1.3].map(output =>
      row(`output × ${output}`, arm => summarize(pairsOf(played, arm, { output })).saved),
    ),
    row('caches of 5 minutes', among(played.filter(each => !isHour(each)))),
    row('caches of an hour', among(played.filter(isHour))),
    ...quarters("results' share of prompts", ({ session }) => resultShare(session)),
    ...quarters('calls of a session', ({ session }) => session.calls.length),
  ]
}

function resultShare({ calls, results }: PlacedSession): number {
  const prompts = calls.reduce((sum, { prompt }) => sum + prompt, 0)
  const all = results.reduce((sum, { tokens, call, epoch }) => {
    return sum + tokens * calls.filter((each, at) => at >= call && each.epoch === epoch).length
  }, 0)
  return all / prompts
}

const arms = ['direct', ...options.arms.filter(arm => arm !== 'direct')]
const played = playAll(recorded, arms)
const { savings, rows } = reportOf(played, arms)
const PLAYED_SIMULATED = ['direct', 'lossless', 'clearing'].filter(arm => arms.includes(arm))
const simulated = playAll(unrecorded.simulated, PLAYED_SIMULATED)
const ofSimulated = reportOf(simulated, PLAYED_SIMULATED)
process.stderr.write('\n')

if (options.json) {
  const record = (of: ReadonlyMap<string, Saving>) => Object.fromEntries(of)
  const models = Object.fromEntries(factors)
  const sessions = { recorded: played.length, simulated: simulated.length }
  const simulatedArms = record(ofSimulated.savings)
  process.stdout.write(
    `${JSON.stringify({ ...record(savings), factors: models, sessions, simulated: simulatedArms })}\n`,
  )
} else {
  const shown = arms.filter(arm => arm !== 'direct')
  const bounds = ['no_miss_pauses', 'no_miss_all'].map(name => [
    name,
    percent(savings.get(name)!.saved),
  ])
  const estimated = played.filter(({ session }) => session.isOutputEstimated).length
  const tables = [
    JSON.stringify(machine()),
    `${played.length} sessions, ${played.reduce((n, { session }) => n + session.calls.length, 0)} calls; the output of ${estimated} is estimated from the growth of their prompts`,
    tableOf(rows),
    markdownTable(['bound', 'saved'], bounds),
    markdownTable(['what is in the bill', 'saved, lossless'], ladderRows(played)),
    markdownTable(['if', ...shown], sensitivityRows(played, shown)),
    markdownTable(
      ['model', "provider's tokens for one of o200k", 'samples'],
      [...factors].map(([model, { factor, samples }]) => [
        model,
        factor.toFixed(2),
        String(samples),
      ]),
    ),
    `simulated: ${simulated.length} sessions without usage, with a prompt of 42,000 tokens before them, caches of 5 minutes, and output at an eighth of the bill`,
    tableOf(ofSimulated.rows),
  ]
  process.stdout.write(`${tables.join('\n\n')}\n`)
}
