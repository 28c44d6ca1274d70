import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionLoad, SessionPlan } from './sessions/load.ts'
import type { Measured } from './sessions/measured-server.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { runPlan, type Server, startServer } from './support/processes.ts'
import { median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'
import { cost } from './telemetry/cost.ts'

/**
 * npm run bench -- telemetry [--rounds N --seconds S --write]
 *
 * Three services under the same load in turn, each first every third time: one without telemetry,
 * one with it, and another without, whose difference from the first is what the machine makes of
 * nothing. Requests a second, and processor time a request, which the load generator's share of the
 * machine does not move. Then what it adds to a job and to the main thread, in this process, where
 * a busy machine does least harm. Prints Markdown; `--write` puts it into bench/README.md.
 */
const options = readOptions({ rounds: 9, seconds: 3, write: false })

const KINDS = [
  ['plain', 'no session'],
  ['new', 'session, all bodies new'],
  ['half', 'session, half of them repeated'],
] as const satisfies readonly (readonly [SessionPlan['kind'], string])[]

type Kind = (typeof KINDS)[number][0]
const SIDES = ['off', 'on', 'control'] as const
type Side = (typeof SIDES)[number]

interface Round {
  readonly perSecond: number
  /** Microseconds of processor time a request, of the main thread and of the process. */
  readonly mainUs: number
  readonly processUs: number
}

async function measuredBy({ port }: Server): Promise<Measured> {
  const answer = await fetch(`http://127.0.0.1:${port}/measured`)
  return (await answer.json()) as Measured
}

let run = 0

async function measure(server: Server, kind: Kind, seconds: number): Promise<Round> {
  await measuredBy(server)
  const load = await runPlan<SessionLoad>('sessions/load.ts', {
    ...{ port: server.port, connections: 32, bodyBytes: 4096, resultsOfSession: 50 },
    ...{ kind, seconds, run: ++run },
  } satisfies SessionPlan)
  if (load.errors > 0) throw new Error(`${load.errors} requests failed`)
  const { main_ms, process_ms } = await measuredBy(server)
  return {
    perSecond: load.per_second,
    mainUs: (1000 * main_ms) / load.requests,
    processUs: (1000 * process_ms) / load.requests,
  }
}

async function compare(servers: Readonly<Record<Side, Server>>) {
  const found = new Map<Kind, Record<Side, Round>[]>(KINDS.map(([kind]) => [kind, []]))
  const { rounds } = options
  for (let round = 0; round <= rounds; round++) {
    for (const [kind] of KINDS) {
      const first = round % SIDES.length
      const order = [...SIDES.slice(first), ...SIDES.slice(0, first)]
      const pair: Partial<Record<Side, Round>> = {}
      for (const side of order) {
        pair[side] = await measure(servers[side], kind, round === 0 ? 2 : options.seconds)
      }
      // The first round is compiled in between.
      if (round > 0) found.get(kind)!.push(pair as Record<Side, Round>)
    }
  }
  return found
}

/** A row for one service against the first. */
function rowOf(
  label: string,
  side: Side,
  trios: readonly Record<Side, Round>[],
): (string | number)[] {
  const middle = (pick: (trio: Record<Side, Round>) => number) => median(trios.map(pick))
  const ratios = trios.map(trio => trio[side].perSecond / trio.off.perSecond).sort((a, b) => a - b)
  const quarter = Math.floor(ratios.length / 4)
  const share = (ratio: number) => `${(100 * (ratio - 1)).toFixed(1)} %`
  return [
    label,
    { off: 'off', on: 'on', control: 'off again' }[side],
    Math.round(middle(trio => trio[side].perSecond)),
    share(median(ratios)),
    `${share(ratios[quarter]!)} to ${share(ratios.at(-1 - quarter)!)}`,
    middle(trio => trio[side].mainUs).toFixed(1),
    middle(trio => trio[side].processUs).toFixed(1),
    share(middle(trio => trio[side].processUs / trio.off.processUs)),
  ]
}

const HEADER = [
  '4 KiB encodes',
  'telemetry',
  'a second',
  'against off',
  'middle half',
  'main thread, µs a request',
  'process, µs a request',
  'process against off',
]

const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))
try {
  const config = join(folder, 'on.toml')
  writeFileSync(config, '[telemetry]\nenabled = true\n')
  const env = { HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'silent' }
  const server = 'sessions/measured-server.ts'
  const servers = {
    on: await startServer(server, { ...env, HAVERSACK_CONFIG: config }),
    off: await startServer(server, env),
    control: await startServer(server, env),
  }
  const found = await compare(servers)
  await Promise.all(SIDES.map(side => servers[side].stop()))
  const rows = KINDS.flatMap(([kind, label]) =>
    SIDES.map(side => rowOf(label, side, found.get(kind)!)),
  )
  const report = `\`${JSON.stringify(machine())}\`, ${options.rounds} rounds of ${options.seconds} s\n\n${markdownTable(HEADER, rows)}\n\n${await cost()}`
  process.stdout.write(`${report}\n`)
  if (options.write) writeSection('telemetry', report)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
