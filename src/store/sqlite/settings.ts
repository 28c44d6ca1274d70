import type { StoreKey } from '../values/codec.ts'

/** Settings of the embedded store; everything but the folder has a default. */
export interface SqliteStoreOptions {
  /** Made if it is not there, with mode 0700; one that is there is left as it is. */
  readonly folder: string
  /** Opens what is there and makes or moves nothing; for looking at it. */
  readonly mustExist?: boolean
  /** Most bytes that the files take, write-ahead log included. */
  readonly maxBytes?: number
  /** Most bytes that one tenant's bodies and records take. */
  readonly tenantMaxBytes?: number
  /** Largest body; never more than a sixteenth of `maxBytes`. */
  readonly maxBodyBytes?: number
  /** Life of a body whose put names none. */
  readonly ttlMs?: number
  /** How long, and for how many bodies, `gone` is distinguished from `not_found`. */
  readonly tombstoneMs?: number
  readonly maxTombstones?: number
  /** Chunks of at least so many bytes are tried with zstd; `null` for none. */
  readonly compressFromBytes?: number | null
  /** AES-256-GCM keys: the first one writes, all of them read. None: not encrypted. */
  readonly keys?: readonly StoreKey[]
  /** A transaction takes no further call once it has lasted this long. */
  readonly groupCommitMs?: number
  /** How long to wait for another process that is writing. */
  readonly busyTimeoutMs?: number
  readonly cacheBytes?: number
}

/** Every setting, with the bounds that follow from others. */
export interface Settings extends Required<SqliteStoreOptions> {
  /** Pages that the main file may have. */
  readonly maxPages: number
  /** Pages in the write-ahead log from which a commit copies them to the main file. */
  readonly checkpointPages: number
  /** A transaction takes no further body once it has so many bytes. */
  readonly transactionBytes: number
}

export const PAGE_BYTES = 4096
const MIB = 1024 * 1024
const MINUTE_MS = 60_000

/** Smallest cap that makes sense: below, fixed costs are most of the file. */
const MIN_BYTES = 4 * MIB
/** The log's share of the cap, and the most that it needs. */
const LOG_SHARE = 16
const MAX_LOG_BYTES = 48 * MIB
const MAX_CHECKPOINT_BYTES = 8 * MIB
/** A tombstone takes 70 bytes; together they take at most 1/30 of the cap. */
const BYTES_A_TOMBSTONE = 2048

/**
 * Fills in defaults. @throws RangeError for values that cannot work together.
 *
 * The log grows to `checkpointPages` and one transaction more, so the main file gets the cap
 * without its share. A body is at most as large as the share, which keeps both together within 5 %
 * of the cap.
 */
export function settle(options: SqliteStoreOptions): Settings {
  const maxBytes = options.maxBytes ?? 1024 * MIB
  if (!(maxBytes >= MIN_BYTES)) throw new RangeError(`maxBytes must be at least ${MIN_BYTES}`)
  const keys = options.keys ?? []
  for (const { id, key } of keys) {
    if (key.byteLength !== 32) throw new RangeError(`key ${id} must have 32 bytes`)
    if (id.length === 0 || id.length > 64) throw new RangeError('a key id has 1 to 64 characters')
  }
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) {
    throw new RangeError('two keys have the same id')
  }
  const logBytes = Math.min(Math.floor(maxBytes / LOG_SHARE), MAX_LOG_BYTES)
  const checkpointBytes = Math.min(logBytes / 2, MAX_CHECKPOINT_BYTES)
  return {
    folder: options.folder,
    mustExist: options.mustExist ?? false,
    maxBytes,
    tenantMaxBytes: options.tenantMaxBytes ?? maxBytes,
    maxBodyBytes: Math.min(options.maxBodyBytes ?? 16 * MIB, Math.floor(maxBytes / LOG_SHARE)),
    ttlMs: options.ttlMs ?? 30 * MINUTE_MS,
    tombstoneMs: options.tombstoneMs ?? 24 * 60 * MINUTE_MS,
    maxTombstones:
      options.maxTombstones ?? Math.min(100_000, Math.floor(maxBytes / BYTES_A_TOMBSTONE)),
    compressFromBytes: options.compressFromBytes === undefined ? 8192 : options.compressFromBytes,
    keys,
    groupCommitMs: options.groupCommitMs ?? 10,
    busyTimeoutMs: options.busyTimeoutMs ?? 800,
    cacheBytes: options.cacheBytes ?? 32 * MIB,
    maxPages: Math.floor((maxBytes - logBytes) / PAGE_BYTES),
    checkpointPages: Math.ceil(checkpointBytes / PAGE_BYTES),
    transactionBytes: checkpointBytes,
  }
}
