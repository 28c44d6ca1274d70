import type { DatabaseSync } from 'node:sqlite'
import { createNamedRows, NO_ROW } from './named-rows.ts'

/** The number of a tenant without data. It is looked up like any other, and finds nothing. */
export const NO_TENANT = NO_ROW

export interface TenantTotals {
  readonly bodies: number
  readonly records: number
  readonly bytes: number
}

/**
 * Tenants and what each of them keeps. Totals are counted where rows are written and removed,
 * inside the same transaction: exact without ever adding up rows. Nothing is remembered between
 * calls, because another process may have changed it.
 */
export interface Tenants {
  /** The tenant's number, `NO_TENANT` for none. */
  find(name: string): number
  findOrAdd(name: string): number
  nameOf(id: number): string | null
  totals(id: number): TenantTotals
  /** The sum of all tenants; reads a row a tenant. */
  sum(): TenantTotals & { readonly tenants: number }
  change(id: number, by: TenantTotals): void
  /** Takes the name away: from now on nothing finds what the tenant had. Returns its number. */
  disown(name: string): number
  /** A tenant whose rows are still to be removed. */
  disowned(): number | undefined
  remove(id: number): void
}

const NOTHING: TenantTotals = { bodies: 0, records: 0, bytes: 0 }

export function createTenants(database: DatabaseSync): Tenants {
  const { find, findOrAdd, disown, disowned } = createNamedRows<[name: string]>(
    database,
    'tenant',
    ['name'],
  )
  const byId = database.prepare('SELECT name, bodies, records, bytes FROM tenant WHERE id = ?')
  const all = database.prepare(
    'SELECT count(*) AS tenants, sum(bodies) AS bodies, sum(records) AS records, sum(bytes) AS bytes FROM tenant',
  )
  const add = database.prepare(
    'UPDATE tenant SET bodies = bodies + ?, records = records + ?, bytes = bytes + ? WHERE id = ?',
  )
  const erase = database.prepare('DELETE FROM tenant WHERE id = ?')

  const totals = (row: Record<string, unknown> | undefined): TenantTotals =>
    row === undefined
      ? NOTHING
      : {
          bodies: Number(row['bodies'] ?? 0),
          records: Number(row['records'] ?? 0),
          bytes: Number(row['bytes'] ?? 0),
        }

  return {
    find,
    findOrAdd,
    nameOf: id => (byId.get(id)?.['name'] ?? null) as string | null,
    totals: id => totals(byId.get(id)),
    sum() {
      const row = all.get()
      return { tenants: Number(row?.['tenants'] ?? 0), ...totals(row) }
    },
    change: (id, { bodies, records, bytes }) => void add.run(bodies, records, bytes, id),
    disown,
    disowned,
    remove: id => void erase.run(id),
  }
}
