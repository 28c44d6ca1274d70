import { DatabaseSync } from 'node:sqlite'

/** Marks the file as ours ("HVSK"), so that another program's database is recognised. */
export const APPLICATION_ID = 0x48_56_53_4b

/**
 * Steps from each version to the next; a new step is added at the end, none is ever changed. Rows
 * of `body` are cut into rows of `chunk`, whose id is the body's times 4096 and their place in it.
 */
const MIGRATIONS: readonly string[] = [
  `
  -- name is NULL from a purge until the last row of the tenant is removed.
  CREATE TABLE tenant (
    id INTEGER PRIMARY KEY,
    name TEXT UNIQUE,
    bodies INTEGER NOT NULL DEFAULT 0,
    records INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX tenant_purged ON tenant (id) WHERE name IS NULL;

  -- charge: what it counts against the quota. alone: put without a session. used: order of last use.
  CREATE TABLE body (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    charge INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    key_id TEXT,
    alone INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    pinned_until INTEGER NOT NULL,
    used INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX body_by_hash ON body (tenant, hash);
  CREATE INDEX body_by_expiry ON body (expires_at);
  CREATE INDEX body_by_use ON body (used) WHERE pinned_until = 0;
  CREATE INDEX body_by_tenant_use ON body (tenant, used) WHERE pinned_until = 0;
  CREATE INDEX body_by_pin ON body (pinned_until) WHERE pinned_until > 0;

  -- id: body.id * 4096 + number of the chunk. line: of its first byte, from 1.
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, data BLOB NOT NULL) STRICT;

  -- name: a hash of the session's name; NULL from a purge until its last link is removed.
  CREATE TABLE session (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, name BLOB) STRICT;
  CREATE UNIQUE INDEX session_by_name ON session (tenant, name);
  CREATE INDEX session_purged ON session (id) WHERE name IS NULL;

  -- hash: the first 8 bytes of the body's.
  CREATE TABLE link (
    session INTEGER NOT NULL,
    hash BLOB NOT NULL,
    body INTEGER NOT NULL,
    PRIMARY KEY (session, hash, body)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX link_by_body ON link (body);

  -- hash: the first 16 bytes of a body that has expired or was evicted. Ids only grow.
  CREATE TABLE tombstone (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    hash BLOB NOT NULL,
    until INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX tombstone_by_hash ON tombstone (tenant, hash);

  CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    charge INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    key_id TEXT,
    expires_at INTEGER,
    value BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX record_by_key ON record (tenant, namespace, key);
  CREATE INDEX record_by_expiry ON record (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO counter VALUES ('record_version', 0);
  `,
]

export const SCHEMA_VERSION = MIGRATIONS.length

/** The file was written by a newer version: it is neither read nor moved away. */
class NewerSchemaError extends Error {
  constructor(found: number) {
    super(
      `the store has schema ${found}, this version knows ${SCHEMA_VERSION}; use a newer haversack`,
    )
    this.name = 'NewerSchemaError'
  }
}

/**
 * Brings the file to this version, each step in a transaction of its own; another process may do
 * the same at the same time. @throws NewerSchemaError
 */
export function migrate(database: DatabaseSync): void {
  for (;;) {
    if (version(database) === SCHEMA_VERSION) return
    database.exec('BEGIN IMMEDIATE')
    try {
      // The version is read again, because the process that held the lock may have migrated the
      // file.
      const from = version(database)
      if (from > SCHEMA_VERSION) throw new NewerSchemaError(from)
      if (from < SCHEMA_VERSION) {
        database.exec(MIGRATIONS[from]!)
        database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
        database.exec(`PRAGMA user_version = ${from + 1}`)
      }
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

/** Whether all tables and indexes are those of this version, word for word. */
export function hasOurTables(database: DatabaseSync): boolean {
  const model = new DatabaseSync(':memory:')
  try {
    for (const step of MIGRATIONS) model.exec(step)
    return String(definitions(model)) === String(definitions(database))
  } finally {
    model.close()
  }
}

function definitions(database: DatabaseSync): unknown[] {
  const rows = database.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all()
  return rows.map(({ name, sql }) => `${String(name)}: ${String(sql)}`)
}

function version(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
