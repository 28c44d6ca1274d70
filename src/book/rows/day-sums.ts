import type { DatabaseSync } from 'node:sqlite'
import { MAX_NAME } from '../../core/contract/result-row.ts'
import { VENDOR_NAMES } from '../../core/dialects/lookup.ts'
import { dayOf } from './day-of.ts'
import { DAY_SUMS, type DaySums } from './read-days.ts'

/**
 * Sums of days, kept for much longer than rows and sums of hours. Whatever has no name is empty: a
 * request has no tool, a result of `encode` no model. `currency` is empty if no price was known.
 * The table is made wherever it is missing, so it needs no version of the schema.
 */
export const DAY_TABLE = `
  -- What the sums of a day are of. Numbers group several times faster than names.
  CREATE TABLE IF NOT EXISTS day_kind (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    way TEXT NOT NULL,
    project TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    tool TEXT NOT NULL,
    currency TEXT NOT NULL,
    UNIQUE (tenant, way, project, agent, model, tool, currency)
  ) STRICT;
  -- day: days since 1970, by the clock of the machine that wrote it.
  CREATE TABLE IF NOT EXISTS day (
    day INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    results INTEGER NOT NULL,
    before INTEGER NOT NULL,
    referred INTEGER NOT NULL,
    encoded INTEGER NOT NULL,
    omitted INTEGER NOT NULL,
    fetched INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    prefix_changes INTEGER NOT NULL,
    billed REAL NOT NULL,
    without REAL NOT NULL,
    billed_money REAL NOT NULL,
    without_money REAL NOT NULL,
    PRIMARY KEY (day, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ledger_name (name TEXT NOT NULL) STRICT;
  INSERT INTO ledger_name SELECT lower(hex(randomblob(16)))
    WHERE NOT EXISTS (SELECT 1 FROM ledger_name);
`

/** Where work came from. */
export interface Origin {
  /** Base name of the repository, or the project that the key or the client names. */
  readonly project?: string | undefined
  /** The agent, by its user agent; absent: it is none that is known. */
  readonly agent?: string | undefined
  /** What the user agent calls itself, if it is no agent that is known. */
  readonly client?: string | undefined
  /** How requests for models come; absent: through the proxies of a service. */
  readonly way?: 'run' | undefined
}

const KIND = 'tenant, way, project, agent, model, tool, currency'

/** What the sums of a day are of. */
export interface DayKind {
  readonly tenant: string
  readonly at: number
  readonly source: string
  readonly origin: Origin
  readonly model?: string | null | undefined
  readonly tool?: string | null | undefined
  readonly currency?: string | undefined
}

/** Kinds of a tenant's day that are summed by themselves; of each way in, the rest is one kind. */
const MOST_KINDS = 1_000
const OTHER = '(other)'
const MAX_PROJECT = 64

interface Batch {
  readonly day: number
  /** In the order of `KIND`. */
  readonly names: readonly string[]
  readonly sums: Record<keyof DaySums, number>
}

/** Adds to the sums of days; what is added is written with `rows`. */
export class DayWriter {
  readonly #database: DatabaseSync
  readonly #statements
  /** Kinds of days by tenant, this process's and those that are in the file already. */
  readonly #kinds = new Map<string, Set<string>>()
  #batch = new Map<string, Batch>()

  constructor(database: DatabaseSync) {
    this.#database = database
    const updates = DAY_SUMS.map(name => `${name} = ${name} + excluded.${name}`)
    this.#statements = {
      name: database.prepare(
        `INSERT OR IGNORE INTO day_kind (${KIND}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
      add: database.prepare(
        `INSERT INTO day (day, kind, ${DAY_SUMS.join(', ')})
         SELECT ?, id, ${DAY_SUMS.map(() => '?').join(', ')} FROM day_kind
         WHERE (${KIND}) = (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET ${updates.join(', ')}`,
      ),
    }
  }

  add(kind: DayKind, sums: Partial<DaySums>): void {
    const place = this.#placeOf(kind)
    const key = JSON.stringify([place.day, place.names])
    const batch = this.#batch.get(key) ?? { ...place, sums: { ...NOTHING } }
    this.#batch.set(key, batch)
    for (const column of DAY_SUMS) batch.sums[column] += sums[column] ?? 0
  }

  /** Writes what was added, in the caller's transaction. */
  write(): void {
    const batches = this.#batch
    this.#batch = new Map()
    for (const { day, names, sums } of batches.values()) {
      const amounts = DAY_SUMS.map(name => sums[name])
      this.#statements.name.run(...names)
      this.#statements.add.run(day, ...amounts, ...names)
    }
  }

  /** Forgets what was added, and which kinds there are: the transaction failed. */
  drop(): void {
    this.#batch = new Map()
    this.#kinds.clear()
  }

  #placeOf({ tenant, at, source, origin, model, tool, currency = '' }: DayKind) {
    const day = dayOf(at)
    const project = (origin.project ?? '').slice(0, MAX_PROJECT).toWellFormed()
    const agent = shortName(origin.agent ?? origin.client)
    const names = [project, agent, shortName(model), shortName(tool)]
    const way = VENDORS.includes(source) ? (origin.way ?? 'proxy') : source
    const isListed = this.#isListed(tenant, day, [way, ...names, currency])
    return { day, names: [tenant, way, ...(isListed ? names : names.map(() => OTHER)), currency] }
  }

  /** Whether the kind has a row of its own, so that clients cannot make rows without bound. */
  #isListed(tenant: string, day: number, names: readonly string[]): boolean {
    const place = JSON.stringify([tenant, day])
    const kinds = this.#kinds.get(place) ?? this.#kindsInFile(tenant, day)
    if (!this.#kinds.has(place)) {
      // Today's, and another one if a batch lies about midnight.
      if (this.#kinds.size >= MOST_PLACES) this.#kinds.clear()
      this.#kinds.set(place, kinds)
    }
    const kind = JSON.stringify(names)
    if (kinds.has(kind)) return true
    if (kinds.size >= MOST_KINDS) return false
    kinds.add(kind)
    return true
  }

  #kindsInFile(tenant: string, day: number): Set<string> {
    const rows = this.#database
      .prepare(
        `SELECT json_array(way, project, agent, model, tool, currency) AS kind FROM day
         JOIN day_kind ON id = day.kind WHERE day = ? AND tenant = ? LIMIT ${MOST_KINDS}`,
      )
      .all(day, tenant)
    return new Set(rows.map(({ kind }) => String(kind)))
  }
}

/** Sources of what came through a proxy; other sources are ways in themselves. */
const VENDORS: readonly string[] = VENDOR_NAMES

/** Removes sums of days up to one of them, and kinds that no day has any more. */
export function removeDays(database: DatabaseSync, last: number): void {
  const { changes } = database.prepare('DELETE FROM day WHERE day <= ?').run(last)
  if (changes > 0) database.exec('DELETE FROM day_kind WHERE id NOT IN (SELECT kind FROM day)')
}

/** Removes all sums of a tenant. @returns how many rows these were */
export function purgeDays(database: DatabaseSync, tenant: string): number {
  const own = 'SELECT id FROM day_kind WHERE tenant = ?'
  const { changes } = database.prepare(`DELETE FROM day WHERE kind IN (${own})`).run(tenant)
  database.prepare('DELETE FROM day_kind WHERE tenant = ?').run(tenant)
  return Number(changes)
}

/** Days of tenants whose kinds are in memory. */
const MOST_PLACES = 100

const NOTHING = Object.fromEntries(DAY_SUMS.map(name => [name, 0])) as unknown as DaySums

function shortName(name: string | null | undefined): string {
  return (name ?? '').slice(0, MAX_NAME).toWellFormed()
}
