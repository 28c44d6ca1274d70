/**
 * The tables of the ledger. Sums by hour and by conversation are kept beside the rows, so that a
 * page costs the same however many results there were, and stay when old rows are removed.
 * `docs/guide/operations.md` describes them.
 */
export const SCHEMA_VERSION = 1

export const SCHEMA = `
  -- elided: the original's hash, if parts of it were left out. data: KeptRow as JSON, since
  -- columns of its own would take longer to write than everything else.
  CREATE TABLE result (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    at INTEGER NOT NULL,
    source TEXT NOT NULL,
    conversation TEXT NOT NULL,
    elided TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX result_by_tenant ON result (tenant, id);
  CREATE INDEX result_by_conversation ON result (tenant, conversation, id)
    WHERE conversation <> '';
  CREATE INDEX result_by_elided ON result (tenant, elided) WHERE elided <> '';

  CREATE TABLE turn (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    at INTEGER NOT NULL,
    vendor TEXT NOT NULL,
    conversation TEXT NOT NULL,
    model TEXT NOT NULL,
    known INTEGER NOT NULL,
    uncached INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    billed REAL NOT NULL,
    without REAL NOT NULL,
    untouched TEXT NOT NULL,
    prefix_changed INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX turn_by_tenant ON turn (tenant, id);
  CREATE INDEX turn_by_conversation ON turn (tenant, conversation, id)
    WHERE conversation <> '';

  -- hour: hours since 1970.
  CREATE TABLE result_hour (
    tenant TEXT NOT NULL,
    hour INTEGER NOT NULL,
    source TEXT NOT NULL,
    tool TEXT NOT NULL,
    shape TEXT NOT NULL,
    format TEXT NOT NULL,
    reason TEXT NOT NULL,
    exact INTEGER NOT NULL,
    results INTEGER NOT NULL,
    before INTEGER NOT NULL,
    referred INTEGER NOT NULL,
    encoded INTEGER NOT NULL,
    omitted INTEGER NOT NULL,
    PRIMARY KEY (tenant, hour, source, tool, shape, format, reason, exact)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE turn_hour (
    tenant TEXT NOT NULL,
    hour INTEGER NOT NULL,
    vendor TEXT NOT NULL,
    untouched TEXT NOT NULL,
    turns INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    prefix_changes INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    billed REAL NOT NULL,
    without REAL NOT NULL,
    PRIMARY KEY (tenant, hour, vendor, untouched)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE conversation (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    model TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    results INTEGER NOT NULL,
    before INTEGER NOT NULL,
    saved INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    billed REAL NOT NULL,
    without REAL NOT NULL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX conversation_by_time ON conversation (tenant, last_at);

  -- Parts that agents fetched again: in bytes, because their tokens are not counted.
  CREATE TABLE fetched (
    tenant TEXT NOT NULL,
    original TEXT NOT NULL,
    at INTEGER NOT NULL,
    times INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (tenant, original)
  ) STRICT, WITHOUT ROWID;
`
