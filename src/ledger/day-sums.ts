import type { DatabaseSync } from 'node:sqlite'
import { MAX_NAME } from '../core/contract/result-row.ts'

/**
 * Sums of days, kept for much longer than rows and sums of hours. Whatever has no name is empty: a
 * request has no tool, a result of `encode` no model. `currency` is empty if no price was known.
 * The table is made wherever it is missing, so it needs no version of the schema.
 */
export const DAY_TABLE = `
  -- day: days since 1970, by the clock of the machine that wrote it.
  CREATE TABLE IF NOT EXISTS day (
    tenant TEXT NOT NULL,
    day INTEGER NOT NULL,
    way TEXT NOT NULL,
    project TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    tool TEXT NOT NULL,
    currency TEXT NOT NULL,
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
    PRIMARY KEY (day, tenant, way, project, agent, model, tool, currency)
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

/** What is summed, in the order of the columns. */
export const DAY_SUMS = [
  ...['results', 'before', 'referred', 'encoded', 'omitted', 'fetched', 'requests', 'unknown'],
  ...['prefix_changes', 'billed', 'without', 'billed_money', 'without_money'],
] as const
const DAY_KEY = ['tenant', 'day', 'way', 'project', 'agent', 'model', 'tool', 'currency']

/** Tokens, results, requests, and bills in uncached input tokens and in money. */
export interface DaySums {
  readonly results: number
  readonly before: number
  readonly referred: number
  readonly encoded: number
  readonly omitted: number
  readonly fetched: number
  readonly requests: number
  readonly unknown: number
  readonly prefix_changes: number
  readonly billed: number
  readonly without: number
  readonly billed_money: number
  readonly without_money: number
}

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

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Days since 1970 in the calendar of this machine, in which its user reads them. */
export function dayOf(at: number): number {
  return Math.floor((at - new Date(at).getTimezoneOffset() * MINUTE_MS) / DAY_MS)
}

interface Batch {
  readonly key: readonly (string | number)[]
  readonly sums: Record<keyof DaySums, number>
}

/** Adds to the sums of days; what is added is written with `rows`. */
export class DayWriter {
  readonly #database: DatabaseSync
  readonly #add
  /** Kinds of days by tenant, this process's and those that are in the file already. */
  readonly #kinds = new Map<string, Set<string>>()
  #batch = new Map<string, Batch>()

  constructor(database: DatabaseSync) {
    this.#database = database
    const updates = DAY_SUMS.map(name => `${name} = ${name} + excluded.${name}`)
    const columns = [...DAY_KEY, ...DAY_SUMS]
    this.#add = database.prepare(
      `INSERT INTO day (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT DO UPDATE SET ${updates.join(', ')}`,
    )
  }

  add(kind: DayKind, sums: Partial<DaySums>): void {
    const key = this.#keyOf(kind)
    const name = JSON.stringify(key)
    const batch = this.#batch.get(name) ?? { key, sums: { ...NOTHING } }
    this.#batch.set(name, batch)
    for (const column of DAY_SUMS as readonly (keyof DaySums)[]) {
      batch.sums[column] += sums[column] ?? 0
    }
  }

  /** Writes what was added, in the caller's transaction. */
  write(): void {
    const batches = this.#batch
    this.#batch = new Map()
    for (const { key, sums } of batches.values()) {
      this.#add.run(...key, ...(DAY_SUMS as readonly (keyof DaySums)[]).map(name => sums[name]))
    }
  }

  /** Forgets what was added, and which kinds there are: the transaction failed. */
  drop(): void {
    this.#batch = new Map()
    this.#kinds.clear()
  }

  #keyOf({ tenant, at, source, origin, model, tool, currency = '' }: DayKind) {
    const day = dayOf(at)
    const project = (origin.project ?? '').slice(0, MAX_PROJECT).toWellFormed()
    const agent = shortName(origin.agent ?? origin.client)
    const names = [project, agent, shortName(model), shortName(tool)]
    const way = VENDORS.includes(source) ? (origin.way ?? 'proxy') : source
    const isListed = this.#isListed(tenant, day, [way, ...names, currency])
    return [tenant, day, way, ...(isListed ? names : names.map(() => OTHER)), currency]
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
         WHERE day = ? AND tenant = ? LIMIT ${MOST_KINDS}`,
      )
      .all(day, tenant)
    return new Set(rows.map(({ kind }) => String(kind)))
  }
}

/** Sources of what came through a proxy; other sources are ways in themselves. */
const VENDORS: readonly string[] = ['anthropic', 'openai', 'google', 'amazon']

/** Days of tenants whose kinds are in memory. */
const MOST_PLACES = 100

const NOTHING = Object.fromEntries(DAY_SUMS.map(name => [name, 0])) as unknown as DaySums

function shortName(name: string | null | undefined): string {
  return (name ?? '').slice(0, MAX_NAME).toWellFormed()
}
