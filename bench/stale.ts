import { readdirSync, readFileSync } from 'node:fs'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- stale [--days N]
 *
 * Names files of `bench/results` whose newest date is older than 90 days, or that have none. Exits
 * with 1 if there are any.
 */
const { days } = readOptions({ days: 90 })
const folder = new URL('results/', import.meta.url)
const oldest = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
for (const name of readdirSync(folder).filter(each => /\.(json|md)$/.test(each))) {
  const text = readFileSync(new URL(name, folder), 'utf8')
  const date = (text.match(/\b20\d\d-[01]\d-[0-3]\d\b/g) ?? []).toSorted().at(-1)
  if (date !== undefined && date >= oldest) continue
  process.stdout.write(`${name}: ${date ?? 'no date'}\n`)
  process.exitCode = 1
}
