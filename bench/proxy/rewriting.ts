import type { Step } from '../../test/support/turns/bodies.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { median, percentile } from '../support/statistics.ts'
import { growingConversation } from './growing-conversations.ts'
import type { Servers } from './served.ts'
import { type CallTimes, timedCall } from './timed-call.ts'

const SIZES = [
  { bytes: 100_000, targetMs: 1.2, share: 1 },
  { bytes: 750_000, targetMs: 5, share: 0.5 },
] as const
/** Milliseconds until the upstream answers. */
const THINK_MS = [0, 20]
const WARM_UP_TURNS = 20
const WAYS = ['direct', 'plain', 'rewritten'] as const
type Way = (typeof WAYS)[number]
type Times = Record<Way, CallTimes[]>

interface Sample {
  readonly bytes: number
  readonly think: number
  /** Turns to measure. */
  readonly turns: number
}

/**
 * Conversations that grow, turn by turn: each request sent directly, forwarded as it is, and with
 * smaller results.
 */
async function measured(
  { upstream, service }: Servers,
  steps: readonly Step[],
  { bytes, think, turns }: Sample,
): Promise<Times> {
  const times: Times = { direct: [], plain: [], rewritten: [] }
  const headers = { 'content-type': 'application/json', 'x-events': '1', 'x-think': think }
  const call = (way: Way, body: Uint8Array) =>
    timedCall(`${way === 'direct' ? upstream : `${service}/anthropic`}/v1/messages`, body, {
      ...headers,
      ...(way === 'plain' ? { 'x-haversack-bypass': 'true' } : {}),
    })
  let left = turns + WARM_UP_TURNS
  // Other conversations for each sample: what was sent before is remembered.
  for (let n = bytes + think; left > 0; n++) {
    const conversation = growingConversation(steps, n, bytes)
    await call('rewritten', conversation.first)
    for (const body of conversation.turns.slice(0, left)) {
      left--
      for (let turn = 0; turn < WAYS.length; turn++) {
        const way = WAYS[(turn + left) % WAYS.length] as Way
        const took = await call(way, body)
        if (left < turns) times[way].push(took)
      }
    }
  }
  return times
}

const HEADER = [
  'body',
  'answered after',
  'time to',
  'direct p50',
  'plain p50',
  'p99',
  'rewritten p50',
  'p99',
  'added by forwarding',
  'by rewriting',
  'target',
  'p99 ÷ plain’s',
]

function rowsOf({ bytes, think }: Sample, targetMs: number, times: Times): string[][] {
  const label = [`${bytes / 1000} KB`, think === 0 ? 'at once' : `${think} ms`]
  return (['first', 'end'] as const).map(at => {
    const of = (way: Way) => times[way].map(each => each[at])
    const [direct, plain, rewritten] = [of('direct'), of('plain'), of('rewritten')]
    const pairs = (more: readonly number[], less: readonly number[]) =>
      median(more.map((ms, n) => ms - less[n]!))
    const p99 = percentile(rewritten, 0.99)
    const figures = [
      percentile(direct, 0.5),
      percentile(plain, 0.5),
      percentile(plain, 0.99),
      percentile(rewritten, 0.5),
      p99,
      pairs(plain, direct),
      pairs(rewritten, plain),
    ]
    const what = at === 'first' ? 'first streamed byte' : 'end'
    const ratio = (p99 / percentile(plain, 0.99)).toFixed(2)
    return [...label, what, ...figures.map(ms => ms.toFixed(2)), `≤ ${targetMs}`, ratio]
  })
}

/**
 * What rewriting adds to forwarding, and that to a direct call, for conversations that bring one
 * new result a turn.
 */
export async function rewritingReport(
  servers: Servers,
  steps: readonly Step[],
  rounds: number,
): Promise<string> {
  const rows: string[][] = []
  const said: string[][] = []
  for (const { bytes, targetMs, share } of SIZES) {
    for (const think of THINK_MS) {
      const sample = { bytes, think, turns: Math.ceil(rounds * share) }
      const times = await measured(servers, steps, sample)
      rows.push(...rowsOf(sample, targetMs, times))
      const saying = (way: Way, part: number) =>
        percentile(
          times[way].map(each => each.said),
          part,
        ).toFixed(2)
      const figures = (['plain', 'rewritten'] as const).flatMap(way => [
        saying(way, 0.5),
        saying(way, 0.99),
      ])
      said.push([
        `${bytes / 1000} KB`,
        think === 0 ? 'at once' : `${think} ms`,
        `${sample.turns}`,
        ...figures,
      ])
    }
  }
  return [
    markdownTable(HEADER, rows),
    'What the service said of the same requests in `X-Haversack-Added-Ms`:',
    markdownTable(
      ['body', 'answered after', 'N', 'plain p50', 'p99', 'rewritten p50', 'p99'],
      said,
    ),
  ].join('\n\n')
}
