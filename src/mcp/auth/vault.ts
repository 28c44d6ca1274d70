import { hash, randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../files/make-folder.ts'
import {
  type Codec,
  createCodec,
  type StoreKey,
  UnreadableError,
} from '../../store/values/codec.ts'
import { folderKey } from './vault-key.ts'

/** What names an entry: its kind, the tenant, and more. */
export type GrantKey = readonly [kind: string, tenant: string, ...names: string[]]

const FILE = 'mcp-credentials.sqlite'
const BUSY_MS = 5000

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS entries (
    place BLOB PRIMARY KEY, key_id TEXT NOT NULL, bytes INTEGER NOT NULL, sealed BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS leases (
    place BLOB PRIMARY KEY, holder BLOB NOT NULL, until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`

export interface VaultOptions {
  readonly folder: string
  /** Keys of the store: the first one writes. If there are none, a key in the folder is used. */
  readonly keys: readonly StoreKey[]
  /** Milliseconds since 1970, the same for all processes on the folder. */
  now?(): number
}

/**
 * Tokens and registrations, sealed (AES-256-GCM) in a file of the data folder. Several processes
 * may use it; a lease keeps them from renewing the same token at once.
 */
export class Vault {
  readonly #database: DatabaseSync
  readonly #codec: Codec
  readonly #now: () => number
  #writes = 0

  /** @throws if the folder cannot be written, or its key cannot be read */
  constructor({ folder, keys, now = Date.now }: VaultOptions) {
    makeFolder(folder)
    const all = keys.length > 0 ? keys : [folderKey(folder)]
    this.#codec = createCodec({ keys: all, compressFromBytes: null })
    this.#now = now
    const file = join(folder, FILE)
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, 'a', 0o600))
    this.#database = new DatabaseSync(file, { timeout: BUSY_MS })
    this.#database.exec(SCHEMA)
  }

  /** `null` if there is none, or it cannot be read with the keys that there are. */
  read(place: GrantKey): unknown {
    const id = idOf(place)
    const row = this.#database
      .prepare('SELECT key_id, bytes, sealed FROM entries WHERE place = ?')
      .get(id) as { key_id: string; bytes: number; sealed: Uint8Array } | undefined
    if (row === undefined) return null
    try {
      const raw = this.#codec.open(row.sealed, id, row.key_id, row.bytes)
      return JSON.parse(Buffer.from(raw).toString())
    } catch (error) {
      if (error instanceof UnreadableError) return null
      throw error
    }
  }

  write(place: GrantKey, value: object): void {
    const id = idOf(place)
    const raw = Buffer.from(JSON.stringify(value))
    this.#writes++
    this.#database
      .prepare('INSERT OR REPLACE INTO entries (place, key_id, bytes, sealed) VALUES (?, ?, ?, ?)')
      .run(id, this.#codec.keyId, raw.length, this.#codec.seal(raw, id))
  }

  /** @returns whether there was one */
  remove(place: GrantKey): boolean {
    this.#writes++
    return (
      this.#database.prepare('DELETE FROM entries WHERE place = ?').run(idOf(place)).changes > 0
    )
  }

  /**
   * Takes the lease of an entry, which ends by itself after that time, so that a process that died
   * blocks no other one.
   * @returns a function that ends it; `null` if another holder has it
   */
  lease(place: GrantKey, ms: number): (() => void) | null {
    const id = idOf(place)
    const holder = randomBytes(16)
    const now = this.#now()
    const { changes } = this.#database
      .prepare(
        'INSERT INTO leases (place, holder, until) VALUES (?, ?, ?) ' +
          'ON CONFLICT (place) DO UPDATE SET holder = excluded.holder, until = excluded.until ' +
          'WHERE until <= ?',
      )
      .run(id, holder, now + ms, now)
    if (changes === 0) return null
    return () => {
      this.#database.prepare('DELETE FROM leases WHERE place = ? AND holder = ?').run(id, holder)
    }
  }

  /** Another text whenever anything has changed, by any process. */
  version(): string {
    const row = this.#database.prepare('PRAGMA data_version').get()
    return `${row?.['data_version']} ${this.#writes}`
  }

  close(): void {
    this.#database.close()
  }
}

function idOf(place: GrantKey): Buffer {
  return hash('sha256', JSON.stringify(place), 'buffer')
}
