import { median } from '../../src/lab/bill/statistics.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { startServer } from '../support/processes.ts'
import { percentile } from '../support/statistics.ts'
import { timedCall } from './timed-call.ts'

const WARM_UP = 50
const BODY_BYTES = [4_000, 100_000, 750_000]
const WAYS = ['direct', 'stream', 'whole'] as const
type Way = (typeof WAYS)[number]
const NAMES = { stream: 'as it comes', whole: 'read first' } as const
const TARGET_MS = { answer: 1.5, 'first streamed byte': 2 } as const
type What = keyof typeof TARGET_MS

/** Times of each way, the n-th of each measured one behind the other. */
async function measured(
  origins: Readonly<Record<Way, string>>,
  what: What,
  { bytes, rounds }: { readonly bytes: number; readonly rounds: number },
): Promise<Record<Way, number[]>> {
  const body = Buffer.alloc(bytes, 'x')
  const times: Record<Way, number[]> = { direct: [], stream: [], whole: [] }
  for (let round = -WARM_UP; round < rounds; round++) {
    for (let turn = 0; turn < WAYS.length; turn++) {
      const way = WAYS[(turn + round + WARM_UP) % WAYS.length] as Way
      const streamed = what === 'first streamed byte'
      const { first, end } = await timedCall(
        `${origins[way]}/${streamed ? 'events' : 'json'}`,
        body,
      )
      if (round >= 0) times[way].push(streamed ? first : end)
    }
  }
  return times
}

/**
 * The forwarder alone, on a plain server: bodies forwarded as they come, and bodies read first,
 * beside direct calls.
 */
export async function forwardingReport(rounds: number): Promise<string> {
  const upstream = await startServer('proxy/upstream-server.ts')
  const direct = `http://127.0.0.1:${upstream.port}`
  const front = await startServer('proxy/front-server.ts', { UPSTREAM_URL: direct })
  const proxied = `http://127.0.0.1:${front.port}`
  const origins = { direct, stream: `${proxied}/stream`, whole: `${proxied}/whole` }
  const rows: string[][] = []
  for (const what of ['answer', 'first streamed byte'] as const) {
    for (const bytes of BODY_BYTES) {
      const times = await measured(origins, what, { bytes, rounds })
      for (const way of ['stream', 'whole'] as const) {
        const added = median(times[way].map((ms, at) => ms - (times.direct[at] ?? 0)))
        const p50 = percentile(times[way], 0.5)
        const directP50 = percentile(times.direct, 0.5)
        const figures = [
          directP50,
          percentile(times.direct, 0.99),
          p50,
          percentile(times[way], 0.99),
          added,
          p50 / directP50,
        ]
        const label = [what, `${bytes / 1000} KB`, NAMES[way]]
        rows.push([...label, ...figures.map(ms => ms.toFixed(2)), `≤ ${TARGET_MS[what]}`])
      }
    }
  }
  await front.stop()
  await upstream.stop()
  const header = [
    'time to',
    'body',
    'body is sent',
    'direct p50',
    'p99',
    'forwarded p50',
    'p99',
    'added',
    'ratio',
    'target',
  ]
  return `The forwarder alone; milliseconds, ${rounds} calls of each kind.\n\n${markdownTable(header, rows)}`
}
