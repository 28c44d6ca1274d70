import type { Failure, RecordKey, RecordWrite, Result, StoredRecord } from '../store.ts'
import { type Codec, UnreadableError } from '../values/codec.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import { refusal } from './failures.ts'
import { readRecordValue, recordTail, shortName } from './layout.ts'
import type { RedisServer } from './server.ts'

export interface RecordsOptions {
  readonly server: RedisServer
  readonly codec: Codec
  /** The time for the functions, empty for the server's own. */
  readonly time: () => string
  readonly rootOf: (tenant: string) => string
  /** Notes that a tenant has data, so that it is swept. */
  readonly register: (tenant: string) => Promise<Failure | undefined>
  readonly tenantMaxBytes: number
  readonly tombstoneMs: number
  readonly onEvent: (event: StoreEvent) => void
}

/** Largest value, in bytes; what is larger is a body. */
const MAX_RECORD_BYTES = 4 * 1024 * 1024
/** Longest namespace and key together, in UTF-16 code units. */
const MAX_KEY_CHARS = 1024
/** What key, index entry and sums of a record take in Redis, measured. */
const ENTRY_BYTES = 285

/** Records in Redis. Nothing here rejects for an expected failure. */
export class RedisRecords {
  readonly #options: RecordsOptions

  constructor(options: RecordsOptions) {
    this.#options = options
  }

  async read(key: RecordKey): Promise<Result<StoredRecord>> {
    const { server, rootOf, time } = this.#options
    const called = await server.call('read_record', rootOf(key.tenant), [time(), idOf(key)])
    if (!called.ok) return called
    const [outcome, value] = called.reply as [Buffer, Buffer]
    if (String(outcome) === 'not_found') return NO_RECORD
    return String(outcome) === 'found' ? this.open(key, value) : refusal(String(outcome))
  }

  async write(write: RecordWrite): Promise<Result<{ readonly version: number }>> {
    const { server, rootOf, register } = this.#options
    if (isTooLarge(write)) return TOO_LARGE
    const { ifVersion } = write
    const { charge, tail } = this.seal(write)
    const unknown = await register(write.tenant)
    if (unknown !== undefined) return unknown
    const root = rootOf(write.tenant)
    const { connection } = server
    const argsOn = (expected: number) => this.writeArgs(write, { charge, tail }, expected)
    const called = await server.call('write_record', root, argsOn(ifVersion ?? -1))
    if (!called.ok) return called
    const [outcome, version, replaced, guard] = called.reply as [Buffer, number, number, Buffer]
    if (String(outcome) !== 'ok') return refusal(String(outcome))
    const whose = { root, session: '', guard: String(guard), version: `${version}` }
    server.remember({ name: 'write_record', ...whose, args: argsOn(replaced) }, connection)
    const weak = await server.confirm(root, connection)
    return weak ?? { ok: true, version }
  }

  async delete(key: RecordKey, ifVersion: number | undefined): Promise<Result<object>> {
    const { server, rootOf, time } = this.#options
    const root = rootOf(key.tenant)
    const { connection } = server
    const argsOn = (expected: number) => [time(), idOf(key), `${expected}`]
    const called = await server.call('delete_record', root, argsOn(ifVersion ?? -1))
    if (!called.ok) return called
    const [outcome, version, guard] = called.reply as [Buffer, number, Buffer]
    if (String(outcome) === 'not_found') return NO_RECORD
    if (String(outcome) !== 'ok') return refusal(String(outcome))
    const whose = { root, session: '', guard: String(guard) }
    server.remember({ name: 'delete_record', ...whose, args: argsOn(version) }, connection)
    return (await server.confirm(root, connection)) ?? { ok: true }
  }

  /** The value of a record as the functions take it, and what it counts as. */
  seal(record: RecordKey & Pick<RecordWrite, 'value'>): SealedRecord {
    const { codec, rootOf } = this.#options
    const sealed = codec.seal(record.value, binding(rootOf(record.tenant), record))
    const tail = recordTail(codec.keyId, sealed)
    return { tail, charge: tail.byteLength + ENTRY_BYTES }
  }

  /** The arguments of `write_record`. @param expected the version that must be there; -1: any */
  writeArgs(write: RecordWrite, { tail, charge }: SealedRecord, expected: number) {
    const { time, tenantMaxBytes, tombstoneMs } = this.#options
    const { value, ttlMs } = write
    const about = [`${ttlMs ?? -1}`, `${expected}`, `${charge}`, `${value.byteLength}`]
    return [time(), idOf(write), ...about, tail, `${tenantMaxBytes}`, `${tombstoneMs}`]
  }

  /** Reads a stored value. */
  open(key: RecordKey, stored: Buffer): Result<StoredRecord> {
    const { codec, rootOf, onEvent } = this.#options
    try {
      const { version, expiresAt, bytes, keyId, sealed } = readRecordValue(stored)
      const value = codec.open(sealed, binding(rootOf(key.tenant), key), keyId, bytes)
      return { ok: true, value: new Uint8Array(value), version, expires_at: expiresAt }
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      const { tenant, namespace } = key
      if (error.missingKey !== null) {
        onEvent({ kind: 'missing_key', key_id: error.missingKey })
        return NO_KEY
      }
      onEvent({ kind: 'damaged_record', tenant, namespace })
      return UNREADABLE
    }
  }
}

const NO_RECORD = fail('not_found', 'no such record')
const UNREADABLE = fail('gone', 'the record cannot be read any more; it may be written again')

/** Another process may have the key. */
export const NO_KEY = fail('gone', 'the key of the record is not configured')
const TOO_LARGE = fail('too_large', `a record may have ${MAX_RECORD_BYTES} bytes`)

/** A record's value as it is sent. */
export interface SealedRecord {
  readonly tail: Buffer
  /** Bytes that it counts as. */
  readonly charge: number
}

export function isTooLarge({ value, namespace, key }: Omit<RecordWrite, 'tenant'>): boolean {
  return value.byteLength > MAX_RECORD_BYTES || namespace.length + key.length > MAX_KEY_CHARS
}

/** The end of a record's key. Namespaces are fixed words, and keys may be of clients. */
export function idOf({ namespace, key }: Omit<RecordKey, 'tenant'>): string {
  return `${namespace}:${shortName(key)}`
}

/** Which record: a value fits nowhere else. */
function binding(root: string, { namespace, key }: RecordKey): Uint8Array {
  return Buffer.from(JSON.stringify(['record', root, namespace, key]))
}
