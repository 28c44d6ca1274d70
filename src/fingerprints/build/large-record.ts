import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { RecordKey, Result, Store } from '../../store/store.ts'
import { fail } from '../../store/values/failure.ts'

/** Nothing larger is written at once, because it would hold up what the store does meanwhile. */
const PART_BYTES = 256 * 1024
/** Parts of one value. */
const MAX_PARTS = 256
/** A value may be replaced while it is read. */
const MAX_TRIES = 5

const headSchema = z.object({ name: z.string(), parts: z.int().min(0).max(MAX_PARTS) })

export type Records = Pick<Store, 'readRecord' | 'writeRecord' | 'deleteRecord'>

/** Writes a value that is too large for one record: parts, then the record that names them. */
export async function writeLarge(
  store: Records,
  key: RecordKey,
  { value, ttlMs, ifVersion: expected }: LargeWrite,
): Promise<Result<object>> {
  const before = await headOf(store, key)
  const name = randomBytes(6).toString('hex')
  const head = { name, parts: Math.ceil(value.byteLength / PART_BYTES) }
  if (head.parts > MAX_PARTS) return fail('too_large', `it has more than ${MAX_PARTS} parts`)
  let written: Result<object> = { ok: true }
  for (let i = 0; i < head.parts && written.ok; i++) {
    const part = value.subarray(i * PART_BYTES, (i + 1) * PART_BYTES)
    written = await store.writeRecord({ ...partKey(key, name, i), value: part, ttlMs })
  }
  if (written.ok) {
    const ifVersion = expected === undefined ? {} : { ifVersion: expected }
    const named = Buffer.from(JSON.stringify(head))
    written = await store.writeRecord({ ...key, value: named, ttlMs, ...ifVersion })
  }
  const unused = written.ok ? before.ok && before.head : head
  if (unused) {
    for (let i = 0; i < unused.parts; i++) await store.deleteRecord(partKey(key, unused.name, i))
  }
  return written
}

export interface LargeWrite {
  readonly value: Uint8Array
  readonly ttlMs: number
  /** What `readLarge` gave, 0 if it found none; any if absent. */
  readonly ifVersion?: number
}

/** The value and its version; the value is `null` if it is damaged or of a later version. */
export async function readLarge(
  store: Records,
  key: RecordKey,
): Promise<Result<{ readonly value: Uint8Array | null; readonly version: number }>> {
  for (let left = MAX_TRIES; ; left--) {
    const found = await headOf(store, key)
    if (!found.ok) return found
    const { head, version } = found
    if (head === null) return { ok: true, value: null, version }
    const parts: Uint8Array[] = []
    for (let i = 0; i < head.parts; i++) {
      const part = await store.readRecord(partKey(key, head.name, i))
      if (!part.ok && part.reason !== 'not_found' && part.reason !== 'gone') return part
      if (part.ok) parts.push(part.value)
    }
    if (parts.length === head.parts) return { ok: true, value: Buffer.concat(parts), version }
    if (left === 0) return { ok: true, value: null, version }
  }
}

async function headOf(store: Records, key: RecordKey) {
  const found = await store.readRecord(key)
  if (!found.ok) return found
  try {
    const head = headSchema.parse(JSON.parse(Buffer.from(found.value).toString()))
    return { ok: true, head, version: found.version } as const
  } catch {
    return { ok: true, head: null, version: found.version } as const
  }
}

function partKey(key: RecordKey, name: string, index: number): RecordKey {
  return { ...key, key: `${key.key} ${name} ${index}` }
}
