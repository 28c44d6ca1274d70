import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** The number of no row. */
export const NO_ROW = 0

/**
 * Rows of a table with an `id` that are found by a key whose last column is `name`. A row whose
 * name is taken away is found no more; what belongs to it can then be removed step by step.
 */
export interface NamedRows<Key extends readonly SQLInputValue[]> {
  /** Returns `NO_ROW` if there is none. */
  find(...key: Key): number
  findOrAdd(...key: Key): number
  /** Takes the name away. Returns the number of the row, or `NO_ROW`. */
  disown(...key: Key): number
  /** A row without a name. */
  disowned(): number | undefined
}

/** @param columns of the key; `name` is the last one */
export function createNamedRows<Key extends readonly SQLInputValue[]>(
  database: DatabaseSync,
  table: string,
  columns: { readonly [Index in keyof Key]: string },
): NamedRows<Key> {
  const match = columns.map(column => `${column} = ?`).join(' AND ')
  const places = columns.map(() => '?').join(', ')
  const byKey = database.prepare(`SELECT id FROM ${table} WHERE ${match}`)
  const insert = database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`)
  const unname = database.prepare(`UPDATE ${table} SET name = NULL WHERE id = ?`)
  const nameless = database.prepare(`SELECT id FROM ${table} WHERE name IS NULL LIMIT 1`)

  const find = (...key: Key) => Number(byKey.get(...key)?.['id'] ?? NO_ROW)

  return {
    find,
    findOrAdd(...key) {
      const id = find(...key)
      return id === NO_ROW ? Number(insert.run(...key).lastInsertRowid) : id
    },
    disown(...key) {
      const id = find(...key)
      if (id !== NO_ROW) unname.run(id)
      return id
    },
    disowned() {
      const row = nameless.get()
      return row === undefined ? undefined : Number(row['id'])
    },
  }
}
