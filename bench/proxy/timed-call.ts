import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { median } from '../../src/lab/bill/statistics.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { runPlan } from '../support/processes.ts'
import type { BurstPlan, BurstResult } from './burst.ts'
import type { Servers } from './served.ts'

const CONVERSATIONS = 32
const BYTES = 100_000
const PAIRS = 5

/** Requests a second of many conversations at once, forwarded as they are and rewritten in turn. */
export async function rateReport(servers: Servers, corpus: string | undefined): Promise<string> {
  const port = Number(new URL(servers.service).port)
  const rates: Record<'plain' | 'rewritten', number[]> = { plain: [], rewritten: [] }
  let requests = 0
  for (let pair = 0; pair < PAIRS; pair++) {
    for (const way of ['plain', 'rewritten'] as const) {
      const plan: BurstPlan = {
        port,
        bytes: BYTES,
        conversations: CONVERSATIONS,
        from: 10_000 + pair * CONVERSATIONS,
        bypass: way === 'plain',
        ...(corpus === undefined ? {} : { corpus }),
      }
      const result = await runPlan<BurstResult>('proxy/burst.ts', plan)
      rates[way].push(result.per_second)
      requests += result.requests
    }
  }
  const share = median(rates.rewritten.map((rate, n) => rate / rates.plain[n]!))
  const rows = (['plain', 'rewritten'] as const).map(way => {
    const ordered = rates[way].toSorted((a, b) => a - b)
    return [way, ...[median(ordered), ordered[0]!, ordered.at(-1)!].map(rate => rate.toFixed(0))]
  })
  const title = `Requests a second of ${CONVERSATIONS} conversations at once, ${BYTES / 1000} KB and one new result each, answered at once`
  const table = markdownTable(['forwarded', 'median', 'least', 'most'], rows)
  return `${title}; ${PAIRS} pairs of runs, ${requests} requests. Rewritten ÷ plain: ${share.toFixed(2)}.\n\n${table}`
}

/** What a call took, in milliseconds from its start. */
interface CallTimes {
  /** To the first byte of the answer's body. */
  readonly first: number
  readonly end: number
  /** What the service says that it added; 0 if it says nothing. */
  readonly said: number
}

/** Kept connections for one call at a time to each server. */
export const agent = new Agent({ keepAlive: true })

/**
 * Sends a body, and reads the answer to its end. A connection that the server had closed meanwhile is
 * replaced by a new one. Throws for any status but 200.
 */
export async function timedCall(
  url: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string | number>> = {},
): Promise<CallTimes> {
  const started = performance.now()
  const outgoing = request(url, {
    method: 'POST',
    agent,
    headers: { 'content-length': body.length, ...headers },
  })
  outgoing.end(body)
  let answer: IncomingMessage
  try {
    ;[answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  } catch (error) {
    if (!outgoing.reusedSocket) throw error
    return await timedCall(url, body, headers)
  }
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
  let first = 0
  answer.on('data', () => {
    if (first === 0) first = performance.now() - started
  })
  await once(answer, 'end')
  const said = Number(answer.headers['x-haversack-added-ms'] ?? 0)
  return { first, end: performance.now() - started, said }
}
