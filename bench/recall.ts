import { percent } from '../src/console/table.ts'
import { type ArmPlay, account, NO_CHANGES, totalOf } from '../src/lab/bill/account.ts'
import type { PlacedSession } from '../src/lab/bill/place-results.ts'
import { type Arm, pipelineArm } from '../src/lab/bill/play.ts'
import { summarize } from '../src/lab/bill/summarize.ts'
import { ARMS } from './bill/play-arms.ts'
import { readCorpus } from './bill/read-corpus.ts'
import { countNeeds, newTally, type Tally } from './recall/needs.ts'
import { machine } from './support/machine.ts'
import { publish, tableOf } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

/**
 * npm run bench -- recall CORPUS [--sample N] [--write]
 *
 * Whether an agent can see what it needs: lines that edits quote, paths, identifiers and numbers of
 * 12 characters or more in the arguments of recorded calls, at their first use, if an earlier
 * result of the context has them. Each is visible as sent, visible by a format or a reference, or
 * one fetch away. Beside it the bill of `bench -- bill` with these fetches, of the sessions with
 * usage; then if half of all results that lack parts are fetched too, and if all are.
 */
const options = readOptions({ corpus: REQUIRED, sample: 1, write: false })

const ANY = {
  elision: { in_proxies: true },
  endpoint_overrides: { '*': { elision_min_saved_tokens: 0 } },
}
const SHOWN: Readonly<Record<string, Arm>> = {
  lossless: ARMS['lossless']!,
  '`elide`': ARMS['elide']!,
  '`elide`, whatever it saves': pipelineArm(ANY, true),
  'level `compact`, whatever it saves': pipelineArm({ ...ANY, views: { level: 'compact' } }, true),
  'clearing after pauses': ARMS['pauses']!,
  '`elide`, and clearing after pauses': ARMS['redeem']!,
  'the last 10 results, 20 at a time': ARMS['masking_in_steps']!,
}

/** Of the results that lack parts, those that are fetched. */
const FETCHED = [0, 0.5, 1] as const

const { recorded, simulated } = readCorpus(options.corpus, options.sample)
const sessions = [...recorded, ...simulated.filter((_, at) => at % options.sample === 0)]

/** What a session costs directly, and with an arm in which more originals are fetched. */
function pairOf(session: PlacedSession, arm: ArmPlay, cut: Tally['cut'], share: number) {
  const results: readonly object[] = session.results
  const needed = new Set(arm.fetches.map(({ result }) => result))
  const more = cut
    .map(step => results.indexOf(step))
    .filter(result => !needed.has(result))
    .filter((_, at) => Math.floor((at + 1) * share) > Math.floor(at * share))
    .map(result => ({ call: session.results[result]!.call, result }))
  const fetches = [...arm.fetches, ...more].toSorted((a, b) => a.call - b.call)
  const direct = totalOf(account(session, NO_CHANGES))
  return { direct, arm: totalOf(account(session, { ...arm, fetches })) }
}

/** The o200k tokens of all results, and what was sent of them first. */
function tokensOf({ results }: PlacedSession, { changes }: ArmPlay) {
  const before = results.reduce((sum, { raw }) => sum + raw, 0)
  const saved = changes
    .filter(({ isAgain }) => !isAgain)
    .reduce((sum, { result, sent }) => sum + results[result]!.raw - sent, 0)
  return { before, saved }
}

function rowOf(name: string, arm: Arm) {
  const tally = newTally()
  const plays = sessions.map(session => {
    const from = tally.cut.length
    const play = arm(session, () => countNeeds(tally))
    process.stderr.write('.')
    return { session, play, cut: tally.cut.slice(from), ...tokensOf(session, play) }
  })
  const sum = (of: 'before' | 'saved') => plays.reduce((total, each) => total + each[of], 0)
  const { sent, decoded, fetched } = tally.seen
  const all = sent + decoded + fetched
  const billed = plays.slice(0, recorded.length)
  const bills = FETCHED.map(share =>
    summarize(billed.map(({ session, play, cut }) => pairOf(session, play, cut, share))),
  )
  const [none, half, whole] = bills.map(
    ({ saved, low, high }) => `${percent(saved)} (${(100 * low).toFixed(1)} to ${percent(high)})`,
  )
  return {
    ...{ arm: name, cut: String(tally.cut.length) },
    ...{ 'tokens saved': percent(sum('saved'), sum('before')) },
    ...{ 'as sent': percent(sent, all), visible: percent(sent + decoded, all) },
    calls: percent(tally.wholeCalls, tally.calls),
    edits: percent(tally.wholeEdits, tally.edits),
    fetches: String(billed.reduce((total, { play }) => total + play.fetches.length, 0)),
    ...{ 'saved of the bill (95 %)': none, 'half of the cut fetched': half, 'all of them': whole },
    dearer: String(bills[0]!.dearer),
  }
}

const rows = Object.entries(SHOWN).map(([name, arm]) => rowOf(name, arm))
process.stderr.write('\n')
publish(
  'recall',
  [
    `${sessions.length} sessions, of which ${recorded.length} have a bill.`,
    tableOf(rows),
    JSON.stringify(machine()),
  ],
  options.write,
)
