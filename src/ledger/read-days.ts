import type { DatabaseSync } from 'node:sqlite'
import type { GainAnswer, GainDimension, GainPart } from '../core/contract/gain.ts'
import { DAY_SUMS, type DaySums } from './day-sums.ts'

/** Which days are read, of whom. */
export interface DayWindow {
  /** `null`: all, for who owns the file. */
  readonly tenant: string | null
  /** The first and the last day, in days since 1970. */
  readonly from: number
  readonly to: number
  /** Only this one; `null`: all. */
  readonly project: string | null
}

type Kind = DaySums & { readonly currency: string } & Readonly<Record<GainDimension, string>>

const KINDS = ['tenant', 'way', 'project', 'agent', 'model', 'tool'] as const
const SUMS = DAY_SUMS.map(name => `sum(${name}) AS ${name}`).join(', ')

/** The sums of some days, by each thing that they are of. @throws Error of SQLite */
export function readGain(
  database: DatabaseSync,
  { tenant, from, to, project }: DayWindow,
): GainAnswer {
  const bounds: (string | number)[] = [from, to]
  const wanted: string[] = []
  for (const [column, name] of [['tenant', tenant] as const, ['project', project] as const]) {
    if (name === null) continue
    wanted.push(`${column} = ?`)
    bounds.push(name)
  }
  const among = `SELECT id FROM day_kind WHERE ${wanted.join(' AND ')}`
  const where = `WHERE day BETWEEN ? AND ?${wanted.length === 0 ? '' : ` AND kind IN (${among})`}`
  const read = (columns: string, from = 'day') =>
    database
      .prepare(`SELECT ${columns}, ${SUMS} FROM ${from} ${where} GROUP BY ${columns}`)
      .all(...bounds)
  const named = database.prepare(`SELECT id, ${KINDS.join(', ')}, currency FROM day_kind`).all()
  const kindOf = new Map(named.map(({ id, ...kind }) => [id, kind]))
  const kinds = read('kind').map(row => ({
    ...row,
    ...kindOf.get(row['kind']!),
  })) as unknown as Kind[]
  const currencies = new Set(kinds.map(({ currency }) => currency).filter(Boolean))
  // Most ledgers have one currency: then the days need not be told apart by it.
  const [currency = ''] = currencies
  const days =
    currencies.size > 1
      ? read('day, currency', 'day JOIN day_kind ON id = kind')
      : read('day').map(row => ({ ...row, currency }))
  const of = (dimension: GainDimension) => sumBy(kinds, dimension)
  const ledger = database.prepare('SELECT name FROM ledger_name').get()
  return {
    ledger: String(ledger?.['name'] ?? ''),
    from,
    to,
    by: {
      day: sumBy(days as unknown as Kind[], 'day'),
      tenant: of('tenant'),
      way: of('way'),
      project: of('project'),
      agent: of('agent'),
      model: of('model'),
      tool: of('tool'),
    },
  }
}

function sumBy(kinds: readonly Kind[], dimension: GainDimension): GainPart[] {
  return sumParts(kinds.map(kind => ({ ...kind, name: String(kind[dimension]) })))
}

/** Parts of the same name and currency as one, with nothing but their sums. */
function sumParts(parts: readonly GainPart[]): GainPart[] {
  const all = new Map<string, GainPart>()
  for (const { name, currency, ...sums } of parts) {
    const key = `${currency} ${name}`
    const known = all.get(key)
    const pairs = (DAY_SUMS as readonly (keyof DaySums)[]).map(
      column => [column, sums[column] + (known?.[column] ?? 0)] as const,
    )
    all.set(key, { name, currency, ...(Object.fromEntries(pairs) as unknown as DaySums) })
  }
  return [...all.values()]
}
