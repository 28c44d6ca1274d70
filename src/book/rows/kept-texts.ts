import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { ResultTexts } from '../../core/contract/result-row.ts'
import { TEXTS_KEY_FILE } from '../../runtime/data-files.ts'
import { loadSecret } from '../../runtime/secret-file.ts'
import {
  type Codec,
  createCodec,
  type StoreKey,
  UnreadableError,
} from '../../store/values/codec.ts'

/**
 * Both sides of results, each pair as one sealed JSON: they are compressed together, and encrypted
 * for their tenant and result. They go with the row of their result. The table is made wherever it
 * is missing.
 */
export const TEXT_TABLE = `
  CREATE TABLE IF NOT EXISTS text (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    at INTEGER NOT NULL,
    key TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sealed BLOB NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS text_by_tenant ON text (tenant, id, length(sealed));
  CREATE TRIGGER IF NOT EXISTS text_of_result AFTER DELETE ON result
    BEGIN DELETE FROM text WHERE id = old.id; END;
`

/** How long texts are kept, and how much of each tenant. */
export const TEXT_MS = 7 * 86_400_000
const TEXT_BYTES = 64 * 1024 * 1024

const KEY_BYTES = 32
const COMPRESS_FROM_BYTES = 256

/** Earlier texts of the tenant that a text may refer to. */
const MOST_EARLIER = 100
const REFERENCE = /\bref ([0-9a-f]{8,64})/g
const DIGITS = 24

/** The texts of a result, with those that it refers to by their ids, as far as they are kept. */
export interface FoundTexts extends ResultTexts {
  readonly earlier: Readonly<Record<string, string>>
}

/**
 * @param keys of the store; if it has none, the folder's own, which is made at its first use
 * @throws SecretFileError
 */
export function textCodec(folder: string, keys: readonly StoreKey[]): Codec {
  const own = () => [{ id: 'texts', key: loadSecret(join(folder, TEXTS_KEY_FILE), KEY_BYTES) }]
  return createCodec({
    keys: keys.length > 0 ? keys : own(),
    refusesPlain: true,
    compressFromBytes: COMPRESS_FROM_BYTES,
  })
}

export function writeTexts(
  database: DatabaseSync,
  codec: Codec,
  { id, tenant, at, texts }: { id: number; tenant: string; at: number; texts: ResultTexts },
): void {
  const { before, after, format } = texts
  const raw = Buffer.from(JSON.stringify({ before, after, format }))
  const sealed = codec.seal(raw, bindingOf(tenant, id))
  database
    .prepare(
      'INSERT OR REPLACE INTO text (id, tenant, at, key, bytes, sealed) VALUES (?,?,?,?,?,?)',
    )
    .run(id, tenant, at, codec.keyId as string, raw.length, sealed)
}

/** Removes the oldest texts of a tenant that has too many bytes of them. */
export function limitTexts(database: DatabaseSync, tenant: string, most = TEXT_BYTES): void {
  database
    .prepare(
      `DELETE FROM text WHERE tenant = ?1 AND id <= (SELECT id FROM (
         SELECT id, sum(length(sealed)) OVER (ORDER BY id DESC) AS newer
         FROM text WHERE tenant = ?1
       ) WHERE newer > ?2 ORDER BY id DESC LIMIT 1)`,
    )
    .run(tenant, most)
}

/** Removes all texts of before a time. */
export function removeTexts(database: DatabaseSync, before: number): void {
  database.prepare('DELETE FROM text WHERE at <= ?').run(before)
}

/** `null` if the tenant has none of this result, or they are too old or cannot be read. */
export function readTexts(
  database: DatabaseSync,
  codec: Codec,
  { tenant, id, now }: { tenant: string; id: number; now: number },
): FoundTexts | null {
  const open = (row: Readonly<Record<string, unknown>> | undefined) =>
    row === undefined ? null : opened(codec, tenant, row)
  const columns = 'text.id, text.key, text.bytes, text.sealed'
  const kept = `FROM text JOIN result USING (id) WHERE text.tenant = ? AND text.at > ?`
  const since = now - TEXT_MS
  const found = open(
    database.prepare(`SELECT ${columns} ${kept} AND text.id = ?`).get(tenant, since, id),
  )
  if (found === null) return null
  const named = found.after.matchAll(REFERENCE)
  const refs = new Set([...named].slice(0, MOST_EARLIER).map(([, ref]) => ref as string))
  const earlier = database.prepare(
    `SELECT ${columns} ${kept} AND text.id < ? AND data ->> 'received' LIKE ?
     ORDER BY text.id DESC LIMIT 1`,
  )
  const texts = [...refs].flatMap(ref => {
    const text = open(earlier.get(tenant, since, id, `${ref.slice(0, DIGITS)}%`))
    return text === null ? [] : [[ref, text.before] as const]
  })
  return { ...found, earlier: Object.fromEntries(texts) }
}

function opened(
  codec: Codec,
  tenant: string,
  row: Readonly<Record<string, unknown>>,
): ResultTexts | null {
  const sealed = row['sealed'] as Uint8Array
  const binding = bindingOf(tenant, Number(row['id']))
  try {
    const raw = codec.open(sealed, binding, String(row['key']), Number(row['bytes']))
    return JSON.parse(Buffer.from(raw).toString()) as ResultTexts
  } catch (error) {
    if (error instanceof UnreadableError) return null
    throw error
  }
}

function bindingOf(tenant: string, id: number): Uint8Array {
  return Buffer.from(`text ${id} ${tenant}`)
}
