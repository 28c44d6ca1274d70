import type { DatabaseSync } from 'node:sqlite'
import type { GainAnswer, GainPart } from '../../core/contract/gain.ts'

/** What is summed, in the order of the columns. */
export const DAY_SUMS = [
  'results',
  'before',
  'referred',
  'encoded',
  'omitted',
  'fetched',
  'requests',
  'unknown',
  'prefix_changes',
  'billed',
  'without',
  'billed_money',
  'without_money',
] as const

/** Tokens, results, requests, and bills in uncached input tokens and in money. */
export type DaySums = Readonly<Record<(typeof DAY_SUMS)[number], number>>

/** Which days are read, of whom. */
export interface DayWindow {
  /** `null`: all, for who owns the file. */
  readonly tenants: readonly string[] | null
  /** The first and the last day, in days since 1970. */
  readonly from: number
  readonly to: number
  /** Only this one; `null`: all. */
  readonly project: string | null
}

const KINDS = ['tenant', 'way', 'project', 'agent', 'model', 'tool'] as const
const SUMS = DAY_SUMS.map(name => `sum(${name}) AS ${name}`).join(', ')

/** The sums of some days, by each thing that they are of. @throws Error of SQLite */
export function readGain(
  database: DatabaseSync,
  { tenants, from, to, project }: DayWindow,
): GainAnswer {
  const terms = ['day BETWEEN ? AND ?']
  const bounds: (string | number)[] = [from, to]
  for (const [column, names] of [
    ['tenant', tenants] as const,
    ['project', project === null ? null : [project]] as const,
  ]) {
    if (names === null) continue
    const among = `${column} IN (SELECT value FROM json_each(?))`
    terms.push(`kind IN (SELECT id FROM day_kind WHERE ${among})`)
    bounds.push(JSON.stringify(names))
  }
  const where = `WHERE ${terms.join(' AND ')}`
  // SQLite adds up what has a name: to do that with a row of each kind takes several times longer.
  const ofKinds = KINDS.map(
    name => `SELECT '${name}' AS of, ${name} AS name, currency, ${SUMS}
      FROM sums JOIN day_kind ON id = kind GROUP BY ${name}, currency`,
  )
  const rows = database
    .prepare(
      `WITH sums AS MATERIALIZED (SELECT kind, ${SUMS} FROM day ${where} GROUP BY kind)
       ${ofKinds.join(' UNION ALL ')}`,
    )
    .all(...bounds) as unknown as (GainPart & { readonly of: (typeof KINDS)[number] })[]
  const of = (dimension: (typeof KINDS)[number]): GainPart[] =>
    rows.filter(row => row.of === dimension).map(({ of: _, ...part }) => part)
  const currencies = new Set(rows.map(({ currency }) => currency).filter(Boolean))
  // Most ledgers have one currency: then the days need not be told apart by it.
  const [currency = ''] = currencies
  const ofDays =
    currencies.size > 1
      ? `SELECT day, currency, ${SUMS} FROM day JOIN day_kind ON id = kind ${where}
         GROUP BY day, currency`
      : `SELECT day, '${currency.replaceAll("'", "''")}' AS currency, ${SUMS} FROM day ${where}
         GROUP BY day`
  const days = database.prepare(ofDays).all(...bounds) as unknown as (Omit<GainPart, 'name'> & {
    readonly day: number
  })[]
  const ledger = database.prepare('SELECT name FROM ledger_name').get()
  return {
    ledger: String(ledger?.['name'] ?? ''),
    from,
    to,
    by: {
      day: days.map(({ day, ...part }) => ({ name: String(day), ...part })),
      tenant: of('tenant'),
      way: of('way'),
      project: of('project'),
      agent: of('agent'),
      model: of('model'),
      tool: of('tool'),
    },
  }
}
