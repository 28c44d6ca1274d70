import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checksBySessions, requestsByTenants, storeByEntries } from './growth/by-entries.ts'
import { encodesBySize, turnsByLength } from './growth/by-turns.ts'
import { type Curve, tableOfCurves } from './growth/measure.ts'
import { machine } from './support/machine.ts'
import { publish } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- growth [--chars N --turns N --sessions N --entries N --tenants N --write]
 *
 * How cost grows: encodes by size, a turn by the conversation before it, the check of a session, the
 * store and requests by how many there are; the memory of the index of sessions too. Processor time.
 * Prints the slope of each curve, log–log, and its goal. `--write` puts that into bench/results.
 */
const options = readOptions({
  chars: 1e7,
  turns: 500,
  sessions: 1e6,
  entries: 1e5,
  tenants: 1e4,
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
  const byCount: readonly Curve[] = [
    turnsByLength(options.turns),
    checks,
    ...(await storeByEntries(folder, options.entries)),
    ...(await requestsByTenants(options.tenants)),
  ]
  const report = [
    `\`${JSON.stringify(machine())}\``,
    tableOfCurves([...bySize, ...byCount], time),
    tableOfCurves([room], bytes => `${short.format(bytes / 2 ** 20)} MiB`),
  ]
  publish('growth', report, options.write)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
