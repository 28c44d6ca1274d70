import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { table } from '../src/cli/table.ts'
import { machine } from './machine.ts'
import { drain } from './service/drain.ts'
import { neighbours } from './service/neighbours.ts'
import { observability } from './service/observability.ts'
import { overload } from './service/overload.ts'
import { slowClients } from './service/slow-clients.ts'

/**
 * npm run bench:service [-- --json --rounds N --seconds S --only NAME]
 *
 * What operators fear: overload, a stop under load, slow clients, and the price of metrics and
 * logs.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))

/** Each gives its figures and the table that shows them. */
const SCENARIOS: Record<string, () => Promise<{ figures: object; text: string }>> = {
  async overload() {
    const figures = await overload(folder, Number(values.seconds))
    const { before, during, after } = figures
    const rows = [
      ['light load before', before],
      ['overload: accepted', during.accepted],
      ['overload: refused', during.refused],
      ['light load after', after],
    ] as const
    const text = [
      `${figures.body_bytes} B bodies, capacity ${figures.capacity_per_second.toFixed(0)}/s, ${during.due} requests due at ten times that`,
      '',
      table(
        ['', 'requests', 'p50 ms', 'p99 ms', 'max ms'],
        rows.map(([name, { count, p50_ms, p99_ms, max_ms }]) => [
          name,
          count,
          p50_ms,
          p99_ms,
          max_ms,
        ]),
      ),
      '',
      `neither accepted nor refused: ${during.failed}; as before after ${figures.recovered_ms} ms`,
      `resident memory: ${figures.idle_mib.toFixed(0)} MiB before, ${figures.peak_mib.toFixed(0)} MiB at most`,
    ]
    return { figures, text: text.join('\n') }
  },
  async drain() {
    const figures = []
    for (let round = 0; round < rounds; round++) {
      for (const heeds of [true, false]) {
        figures.push({ ...(await drain(folder, heeds)), behind_balancer: heeds })
      }
    }
    const rows = figures.map(round => [
      round.behind_balancer ? 'yes' : 'no',
      round.answered,
      round.lost,
      round.refused,
      round.early,
      round.unready_ms,
      round.ended_ms,
      round.exit_code ?? 'none',
    ])
    const header = [
      'balancer',
      'answered',
      'lost',
      'refused',
      'early',
      'unready ms',
      'ended ms',
      'exit',
    ]
    return { figures, text: table(header, rows) }
  },
  async slow() {
    const figures = await slowClients(folder, rounds, 4)
    const rows = [
      ['alone', figures.alone_p99_ms, ''],
      ['beside 200 slow and 1,000 idle', figures.beside_p99_ms, figures.ratio],
    ]
    return { figures, text: table(['p99 of normal clients', 'ms', 'ratio'], rows) }
  },
  async neighbours() {
    const figures = await neighbours(folder, rounds, 6)
    const rows = figures.map(({ attack, quiet_p99_ms, attacked_p99_ms, limit_ms, ...rest }) => [
      attack,
      quiet_p99_ms,
      attacked_p99_ms,
      limit_ms,
      rest.attacked_max_ms,
      rest.refused,
      `${rest.rewritten}/${rest.proxied}`,
      rest.slowest_proxied_ms,
      rest.threads_replaced,
    ])
    const header = [
      'another tenant sends',
      'quiet p99 ms',
      'p99 ms',
      'target ms',
      'max ms',
      'refused',
      'rewritten',
      'slowest ms',
      'threads replaced',
    ]
    return { figures, text: table(header, rows) }
  },
  async observability() {
    const figures = await observability(folder, rounds, 4)
    const rows = [
      ['without metrics and log', figures.off_per_second, ''],
      ['with both', figures.on_per_second, figures.ratio],
    ]
    return { figures, text: table(['4 KiB encodes', 'requests/s', 'ratio'], rows) }
  },
}

try {
  const names = values.only === undefined ? Object.keys(SCENARIOS) : [values.only]
  const results: Record<string, object> = { machine: machine() }
  for (const name of names) {
    const scenario = SCENARIOS[name]
    if (scenario === undefined) throw new Error(`no scenario ${name}`)
    const { figures, text } = await scenario()
    results[name] = figures
    if (!values.json) process.stdout.write(`## ${name}\n\n${text}\n\n`)
  }
  process.stdout.write(`${JSON.stringify(values.json ? results : results['machine'])}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
