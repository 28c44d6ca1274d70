import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checksBySessions, requestsByTenants, storeByEntries } from './growth/by-entries.ts'
import { requestsByConnections, requestsByKeys } from './growth/by-requests.ts'
import { encodesBySize, turnsByLength } from './growth/by-turns.ts'
import { type Curve, tableOfCurves } from './growth/measure.ts'
import { machine } from './support/machine.ts'
import { writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench:growth -- [--chars N --turns N --sessions N --entries N --tenants N --keys N
 *   --connections N --write]
 *
 * How cost grows: encodes by size, a turn by the conversation before it, the check of a session, the
 * store and requests by how many there are; resident memory too. Processor time, on one thread if
 * nothing else is said.
 * Prints the slope of each curve, log–log, and its goal. `--write` puts that into bench/results.
 */
const options = readOptions({
  chars: 1e7,
  turns: 500,
  sessions: 1e6,
  entries: 1e5,
  tenants: 1e4,
  keys: 1e4,
  connections: 1e4,
  write: false,
})

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

function time(ns: number): string {
  if (ns < 1e3) return `${short.format(ns)} ns`
  if (ns < 1e6) return `${short.format(ns / 1e3)} µs`
  return ns < 1e9 ? `${short.format(ns / 1e6)} ms` : `${short.format(ns / 1e9)} s`
}

const folder = mkdtempSync(join(tmpdir(), 'haversack-growth-'))
try {
  // First, while the heap is small.
  const { time: checks, room } = checksBySessions(options.sessions)
  const bySize = await encodesBySize(options.chars)
  const byKeys = await requestsByKeys(folder, options.keys)
  const byConnections = await requestsByConnections(folder, options.connections)
  const byCount: readonly Curve[] = [
    turnsByLength(options.turns),
    checks,
    ...(await storeByEntries(folder, options.entries)),
    ...(await requestsByTenants(options.tenants)),
    byKeys.time,
    byConnections.time,
  ]
  const report = [
    `\`${JSON.stringify(machine())}\``,
    tableOfCurves([...bySize, ...byCount], time),
    tableOfCurves(
      [room, byKeys.room, byConnections.room],
      bytes => `${short.format(bytes / 2 ** 20)} MiB`,
    ),
  ].join('\n\n')
  process.stdout.write(`${report}\n`)
  if (options.write) writeSection('growth', report)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
