import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drain } from './service/drain.ts'
import { neighbours } from './service/neighbours.ts'
import { observability } from './service/observability.ts'
import { overload } from './service/overload.ts'
import { slowClients } from './service/slow-clients.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- service [--json --rounds N --seconds S --only NAME]
 *
 * What operators fear: overload, a stop under load, slow clients, and the price of metrics and
 * logs.
 */
const options = readOptions({
  json: false,
  rounds: 7,
  seconds: 20,
  only: ['overload', 'drain', 'slow', 'neighbours', 'observability'],
})
const { rounds } = options
const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))

/** Each gives its figures and the table that shows them. */
const SCENARIOS: Record<
  (typeof options.only)[number],
  () => Promise<{ figures: object; text: string }>
> = {
  async overload() {
    const figures = await overload(folder, options.seconds)
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
      markdownTable(
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
    return { figures, text: markdownTable(header, rows) }
  },
  async slow() {
    const figures = await slowClients(folder, rounds, 4)
    const rows = [
      ['alone', figures.alone_p99_ms, ''],
      ['beside 200 slow and 1,000 idle', figures.beside_p99_ms, figures.ratio],
    ]
    return { figures, text: markdownTable(['p99 of normal clients', 'ms', 'ratio'], rows) }
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
    return { figures, text: markdownTable(header, rows) }
  },
  async observability() {
    const figures = await observability(folder, rounds, 4)
    const rows = [
      ['without metrics and log', figures.off_per_second, ''],
      ['with both', figures.on_per_second, figures.ratio],
    ]
    return { figures, text: markdownTable(['4 KiB encodes', 'requests/s', 'ratio'], rows) }
  },
}

try {
  const results: Record<string, object> = { machine: machine() }
  for (const name of options.only) {
    const { figures, text } = await SCENARIOS[name]()
    results[name] = figures
    if (!options.json) process.stdout.write(`## ${name}\n\n${text}\n\n`)
  }
  process.stdout.write(`${JSON.stringify(options.json ? results : results['machine'])}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
