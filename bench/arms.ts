import { type Effect, type Look, playLooks } from './arms/play-looks.ts'
import { recordedResults } from './arms/recorded-results.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { createXorshift } from './support/random.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- arms CORPUS [--runs N] [--write]
 *
 * How often the intervals of arms err, and how soon they see what is there. Runs of 30 looks, one
 * after each 100 conversations, which are drawn from the recorded ones with the sizes of their
 * results and with what their agents did after them. What elision does to that is planted.
 */
const options = readOptions({ corpus: REQUIRED, runs: 1_000, seed: 1, write: false })
const SHARE = 0.1
const DAYS = { looks: 30, conversations: 100, share: SHARE }

const recorded = recordedResults(options.corpus)
const all = recorded.flat()
const each = createXorshift(options.seed)
const random = () => each(2 ** 31) / 2 ** 31
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length

const isReverted = ({ verdict }: Look) => verdict.net !== null && verdict.net.high <= 0
const seesMore = ({ verdict }: Look) => verdict.followUps !== null && verdict.followUps.low > 0
const isAlarm = (look: Look) =>
  isReverted(look) ||
  (look.verdict.followUps !== null &&
    (look.verdict.followUps.low > 0 || look.verdict.followUps.high < 0))

interface Case {
  readonly name: string
  readonly effect: Effect
  readonly stop: (look: Look) => boolean
  /** Looks that fit into so many results; absent: 30 of 100 conversations. */
  readonly within?: number
  readonly goal: string
}

/** One in which elision costs so much of what it leaves out, by results that come back. */
const costing = (share: number, again = 0.5): Effect =>
  share === 0 ? { again: 0, price: 0 } : { again, price: share / again }

const CASES: readonly Case[] = [
  {
    name: 'A/A: no effect, alarm or revert',
    effect: costing(0),
    stop: isAlarm,
    goal: 'at most 5 %',
  },
  {
    name: 'net −50 %, half of them come back: reverted within 2,000 results',
    effect: costing(1.5),
    stop: isReverted,
    within: 2_000,
    goal: 'at least 90 %',
  },
  {
    name: 'net −50 %, one in four comes back: reverted within 2,000 results',
    effect: costing(1.5, 0.25),
    stop: isReverted,
    within: 2_000,
    goal: 'at least 90 %',
  },
  {
    name: 'ten points more come back: seen within 5,000 results',
    effect: { again: 0.1 / mean(all.map(({ hasFollowUp }) => (hasFollowUp ? 0 : 1))), price: 1 },
    stop: seesMore,
    within: 5_000,
    goal: '–',
  },
  {
    name: 'net +25 %: reverted',
    effect: costing(0.75),
    stop: isReverted,
    goal: 'at most 2.5 %',
  },
  {
    name: 'net +5 %: reverted',
    effect: costing(0.95),
    stop: isReverted,
    goal: 'at most 2.5 %',
  },
]

const perConversation = all.length / recorded.length
const started = process.cpuUsage()
const rows = CASES.map(({ name, effect, stop, within, goal }) => {
  const results: number[] = []
  for (let run = 0; run < options.runs; run++) {
    // A look after each 100 results, or after each day.
    const looks =
      within === undefined
        ? DAYS
        : { looks: 20, conversations: Math.floor(within / 20 / perConversation), share: SHARE }
    const look = playLooks(recorded, looks, effect, random, stop)
    if (look !== null) results.push(look.results)
  }
  const sorted = results.sort((a, b) => a - b)
  const share = (100 * results.length) / options.runs
  return [name, `${share.toFixed(1)} %`, sorted[sorted.length >> 1] ?? '–', goal]
})
const seconds = (process.cpuUsage(started).user / 1e6).toFixed(0)
const followed = mean(all.map(({ hasFollowUp }) => Number(hasFollowUp)))
const about =
  `${all.length} results that would be elided, of ${recorded.length} conversations; ` +
  `${options.runs} runs, ${SHARE * 100} % stay whole; ` +
  `${(100 * followed).toFixed(1)} % have a follow-up anyway; ${seconds} s of processor time.`
const header = ['planted', 'found in', 'after, results (median)', 'goal']
const report = `${about}\n\n${markdownTable(header, rows)}`
process.stdout.write(`${report}\n`)
if (options.write) writeSection('arms', report)
