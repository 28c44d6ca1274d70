import { markdownTable } from '../support/markdown-table.ts'
import { runPlan, type Server, startServer } from '../support/processes.ts'
import { median } from '../support/statistics.ts'
import type { SessionLoad, SessionPlan } from './load.ts'
import type { Measured } from './measured-server.ts'

const KINDS = [
  ['plain', 'no session'],
  ['new', 'session, all bodies new'],
  ['half', 'session, half of them repeated'],
] as const satisfies readonly (readonly [SessionPlan['kind'], string])[]

type Figures = SessionLoad & Measured

/** What the service measured since it was last asked. */
export async function measuredBy({ port }: Server): Promise<Measured> {
  const answer = await fetch(`http://127.0.0.1:${port}/measured`)
  return (await answer.json()) as Measured
}

/**
 * Encodes of 4 KiB with and without sessions, in turn in each round, through one service with its
 * store on disk.
 */
export async function throughput(rounds: number, seconds: number): Promise<string> {
  const server = await startServer('sessions/measured-server.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'silent',
  })
  const plan = { port: server.port, connections: 32, bodyBytes: 4096, resultsOfSession: 50 }
  const found = new Map<string, Figures[]>(KINDS.map(([kind]) => [kind, []]))
  let run = 0
  for (let round = 0; round <= rounds; round++) {
    for (const [kind] of KINDS) {
      await measuredBy(server)
      const load = await runPlan<SessionLoad>('sessions/load.ts', {
        ...plan,
        kind,
        seconds: round === 0 ? 2 : seconds,
        run: ++run,
      } satisfies SessionPlan)
      if (load.errors > 0) throw new Error(`${load.errors} requests failed`)
      // The first round is compiled in between.
      if (round > 0) found.get(kind)!.push({ ...load, ...(await measuredBy(server)) })
    }
  }
  await server.stop()
  return tableOf(found)
}

function tableOf(found: ReadonlyMap<string, readonly Figures[]>): string {
  const rows = KINDS.map(([kind, label]) => {
    const all = found.get(kind)!
    const middle = (pick: (figures: Figures) => number) => median(all.map(pick))
    return [
      label,
      middle(({ per_second }) => per_second),
      middle(({ p50_ms }) => p50_ms),
      middle(({ p99_ms }) => p99_ms),
      middle(({ exact, requests }) => exact / requests),
      middle(({ main_ms, requests }) => (1000 * main_ms) / requests),
      middle(({ process_ms, requests }) => (1000 * process_ms) / requests),
      middle(({ delay_p99_ms }) => delay_p99_ms),
      middle(({ delay_max_ms }) => delay_max_ms),
    ]
  })
  const header = [
    'POST /v1/encode, 4 KiB',
    'a second',
    'p50 ms',
    'p99 ms',
    'share of exact references',
    'main thread, µs each',
    'whole process, µs each',
    'event loop delay p99 ms',
    'max ms',
  ]
  return markdownTable(header, rows)
}
