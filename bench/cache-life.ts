import { percent } from '../src/console/table.ts'
import { READ_PRICE, WRITE_PRICES } from '../src/lab/bill/prices.ts'
import type { BillSession } from '../src/lab/bill/session.ts'
import { summarize } from '../src/lab/bill/summarize.ts'
import { recordingProxy } from '../test/support/recording-proxy.ts'
import { readCorpus } from './bill/read-corpus.ts'
import {
  type LifeBill,
  missOf,
  POLICIES,
  partsOf,
  playBest,
  playLives,
  promptOf,
} from './cache-life/lives.ts'
import { machine } from './support/machine.ts'
import { markdownTable, publish } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

/**
 * npm run bench -- cache-life CORPUS [--write]
 *
 * What prompts of recorded sessions would cost a client that sets no cache breakpoint, without and
 * with `cache_life.place`. Prompts, times and misses are those of the provider's own usage. The
 * product decides which requests get a breakpoint. What their input costs with other lives, by the
 * product's own rules. And why the recorded caches missed, as far as the usage says it: its prompts
 * are not recorded.
 */
const { corpus, write } = readOptions({ corpus: REQUIRED, write: false })

const LIFE_S = 300
const HOST = 'api.anthropic.com'
/** The system prompt and tools of a small agent; the simulated sessions have 42,000 tokens. */
const SMALL_HEAD = 3_000
const SIMULATED_HEAD = 42_000

/** Which requests of a session the product gives a breakpoint. */
function placedIn({ name, calls }: BillSession, pace: number): readonly boolean[] {
  let now = 0
  const lives = [{ seconds: LIFE_S }]
  const terms = { redeems: false, bypass: false, cacheLives: lives, placesAt: HOST }
  const pipeline = { cache_life: { place: true } }
  const proxy = recordingProxy(pipeline, { terms, now: () => now })
  const messages: object[] = [{ role: 'user', content: name }]
  return calls.map(({ ts }, at) => {
    now = pace * ts * 1_000
    if (at > 0) {
      messages.push({ role: 'assistant', content: `${at}` }, { role: 'user', content: 'On.' })
    }
    const { report } = proxy.send({ model: 'claude-sonnet-4-5', messages })
    return report.levers?.includes('place') === true
  })
}

interface Paid {
  readonly without: number
  readonly placed: number
}

/** The input of a session, in tokens that no cache has. @param pace how much slower it is */
function payFor(session: BillSession, pace: number): Paid {
  const places = placedIn(session, pace)
  let [without, placed] = [0, 0]
  let cached = { tokens: 0, at: 0, model: '' }
  for (const [at, call] of session.calls.entries()) {
    const prompt = promptOf(call)
    without += prompt
    if (!places[at]) {
      placed += prompt
      continue
    }
    const isAlive = pace * (call.ts - cached.at) <= LIFE_S && call.model === cached.model
    const miss = missOf(session.calls[at - 1], call)
    // What the client changed would be lost as well.
    const most = miss === null || miss.reason === 'idle' ? prompt : call.read
    const read = isAlive ? Math.min(cached.tokens, most) : 0
    placed += READ_PRICE * read + WRITE_PRICES.minutes * (prompt - read)
    cached = { tokens: prompt, at: call.ts, model: call.model }
  }
  return { without, placed }
}

function rowOf(name: string, sessions: readonly BillSession[], pace: number): string[] {
  const paid = sessions.map(each => payFor(each, pace))
  process.stderr.write('.')
  const sum = (of: keyof Paid) => paid.reduce((all, each) => all + each[of], 0)
  const shares = paid.map(({ without, placed }) => placed / without)
  return [
    name,
    String(sessions.length),
    percent(sum('placed') / sum('without')),
    String(shares.filter(share => share > 1.01).length),
    percent(shares.reduce((worst, share) => Math.max(worst, share), 0)),
  ]
}

function withHead({ name, calls }: BillSession, tokens: number): BillSession {
  const less = SIMULATED_HEAD - tokens
  const shorter = calls.map((call, at) =>
    at === 0 ? { ...call, write: call.write - less } : { ...call, read: call.read - less },
  )
  return { name, calls: shorter }
}

function missRows(sessions: readonly BillSession[]): string[][] {
  const sums = new Map<string, { count: number; tokens: number }>()
  for (const { calls } of sessions) {
    for (const [at, call] of calls.entries()) {
      const miss = missOf(calls[at - 1], call)
      if (miss === null) continue
      const { count, tokens } = sums.get(miss.reason) ?? { count: 0, tokens: 0 }
      sums.set(miss.reason, { count: count + 1, tokens: tokens + miss.tokens })
    }
  }
  return [...sums].map(([reason, { count, tokens }]) => [
    reason,
    String(count),
    tokens.toLocaleString('en-US'),
  ])
}

/** What lives cost, against five minutes for all: all of it, then by length and by key. */
function lifeRows(sessions: readonly BillSession[]): string[][] {
  const best = { name: 'the cheaper life of each (bound)', paid: playBest(sessions) }
  const bills = POLICIES.map(each => ({ name: each.name, paid: playLives(sessions, each) }))
  const base = bills[0]!.paid
  return [...partsOf(sessions)].flatMap(([part, places]) =>
    [...bills.slice(1, 2), best, ...bills.slice(2)].map(({ name, paid }) =>
      lifeRow([part, name], places, { base, paid }),
    ),
  )
}

interface BothBills {
  readonly base: readonly LifeBill[]
  readonly paid: readonly LifeBill[]
}

function lifeRow(names: string[], places: readonly number[], { base, paid }: BothBills): string[] {
  const pairs = places.map(at => ({ direct: base[at]!.cost, arm: paid[at]!.cost }))
  const { saved, low, high, worst } = summarize(pairs)
  const all = pairs.reduce((sum, { direct }) => sum + direct, 0)
  const lost = pairs.reduce((sum, { direct, arm }) => sum + Math.max(0, arm - direct), 0)
  return [
    ...names,
    String(pairs.length),
    percent(1 - saved),
    `${percent(1 - high)} to ${percent(1 - low)}`,
    String(pairs.filter(({ direct, arm }) => arm > 1.01 * direct).length),
    percent(worst),
    percent(lost / all),
  ]
}

const { recorded, simulated } = readCorpus(corpus)
const rows = [
  rowOf('recorded', recorded, 1),
  ...[10, 60, 1_000].map(pace => rowOf(`recorded, pauses × ${pace}`, recorded, pace)),
  rowOf('simulated, short tasks', simulated, 1),
  rowOf(
    'simulated, 3,000 tokens before them',
    simulated.map(each => withHead(each, SMALL_HEAD)),
    1,
  ),
]
process.stderr.write('\n')
const HEADER = ['sessions', 'n', 'input bill with place', 'over 1 % dearer', 'worst']
const LIVES = ['sessions', 'policy', 'n', 'input bill', '95 %', '> 1 % dearer', 'worst', 'lost']
const tables = [
  `\`${JSON.stringify(machine())}\``,
  markdownTable(HEADER, rows),
  markdownTable(LIVES, lifeRows(recorded)),
  markdownTable(['recorded miss', 'calls', 'cached tokens not read'], missRows(recorded)),
]
publish('cache-life', tables, write)
