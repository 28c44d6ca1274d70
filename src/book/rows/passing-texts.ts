import type { DatabaseSync } from 'node:sqlite'
import type { DayKind } from './day-sums.ts'

/**
 * Texts that left for an agent, which sends them on to its model: a proxy of ours may get them as
 * results. `place` says which sums have them. The table is made wherever it is missing.
 */
export const PASSING_TABLE = `
  CREATE TABLE IF NOT EXISTS passing (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    at INTEGER NOT NULL,
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    place TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS passing_by_digest ON passing (tenant, digest);
`

/** The sums that a result is in. */
export interface SumPlace {
  readonly day: DayKind
  /** The key of a row of `result_hour`. */
  readonly hour: readonly (string | number)[]
}

/** What sends its results to an agent, and not to a model. */
const TO_AGENTS: ReadonlySet<string> = new Set(['mcp', 'hook'])

/** Whether results of this source may arrive once more, through a proxy. */
export function isPassing(source: string): boolean {
  return TO_AGENTS.has(source)
}

/** Recognizes results that another process or way in has counted. */
export class PassingTexts {
  readonly #statements

  constructor(database: DatabaseSync) {
    this.#statements = {
      note: database.prepare(
        'INSERT INTO passing (tenant, at, source, digest, place) VALUES (?, ?, ?, ?, ?)',
      ),
      take: database.prepare(
        `DELETE FROM passing WHERE id = (SELECT id FROM passing
         WHERE tenant = ? AND digest = ? AND source <> ? ORDER BY id LIMIT 1) RETURNING place`,
      ),
    }
  }

  /** @param digest of the text as it left */
  note({ day, hour }: SumPlace, source: string, digest: string): void {
    const place = JSON.stringify({ day, hour })
    this.#statements.note.run(day.tenant, day.at, source, digest, place)
  }

  /** Where the text was counted that another source sent; `null`: nowhere. Each is found once. */
  take(tenant: string, source: string, digest: string): SumPlace | null {
    const found = this.#statements.take.get(tenant, digest, source)
    return found === undefined ? null : (JSON.parse(String(found['place'])) as SumPlace)
  }
}
