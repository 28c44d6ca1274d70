import { hash } from 'node:crypto'
import { AppError } from '../core/base/errors.ts'
import { type MediaType, readEnvelope, writeEnvelope } from '../core/contract/envelope.ts'
import { validate } from '../core/contract/validate.ts'
import { admitRows, type RefusedRow, withdrawRows } from '../core/fingerprints/admit-rows.ts'
import { matchesEndpoint } from '../core/fingerprints/endpoint-pattern.ts'
import {
  dayOf,
  FINGERPRINTS_VERSION,
  type Fingerprint,
  LEAST_SESSIONS,
  LIMITS,
  WINDOW_DAYS,
} from '../core/fingerprints/fingerprint.ts'
import { readLines, writeLines } from '../core/fingerprints/lines.ts'
import { mergeMembers } from '../core/fingerprints/merge-members.ts'
import { mergeUploads } from '../core/fingerprints/merge-uploads.ts'
import { type ProviderDocument, uploadRequest } from '../core/fingerprints/upload.ts'
import { readRecord, rowsOfRecords, writeRecord } from '../core/fingerprints/upload-record.ts'
import { mergedToParquet } from './parquet-file.ts'
import { shareable } from './shareable.ts'
import { fingerprintsIn } from './span-file.ts'

export interface UploadBody {
  readonly body: Uint8Array
  readonly media: MediaType
}

/** An upload as it crosses threads: its rows as lines, not yet admitted. */
interface CheckedUpload {
  readonly member: string
  readonly windowDays: number
  readonly rows: Uint8Array
}

/** Depth and values of an upload of the most rows, with shapes and formats in each. */
const ENVELOPE = { maxDepth: 8, maxValues: LIMITS.rows * 60 }

/** The record of a member after an upload, and the result for each of its rows. */
export interface Admitted {
  readonly record: Uint8Array
  /** Rows that the record has. */
  readonly rows: number
  readonly accepted: number
  readonly refused: readonly RefusedRow[]
}

/** A document in each way that it is sent. */
interface Written {
  readonly json: Uint8Array
  readonly msgpack: Uint8Array
  /** The same for the same figures: 32 hexadecimal digits. */
  readonly digest: string
}

/** A team's document. */
export interface MergedDocument extends Written {
  readonly parquet: Uint8Array
  /** When the document changes without an upload: Unix milliseconds, or infinity. */
  readonly changesAt: number
}

/** What the thread of fingerprints does; every function can run in any thread. */
export const TASKS = {
  /** Parses an upload. @throws AppError `invalid_request`, with the fields that are wrong */
  read({ body, media }: UploadBody): CheckedUpload {
    const upload = validate(uploadRequest, readEnvelope(body, media, ENVELOPE))
    const { member, window_days: windowDays, endpoints } = upload
    return { member, windowDays, rows: writeLines(endpoints) }
  },
  /**
   * @throws AppError `internal` if the earlier record cannot be read, because only it has what was
   *   published
   */
  admit({ upload, earlier, now }: AdmitTask): Admitted {
    const { member, windowDays } = upload
    const before = earlier === null ? null : known(earlier)
    const rows = readLines(upload.rows) as Fingerprint[]
    const { record, ...rest } = admitRows(rows, before, { member, windowDays, now })
    return { record: writeRecord(record), rows: record.rows.length, ...rest }
  },
  /** `null` if the member has no upload. */
  withdraw({ earlier, now }: { readonly earlier: Uint8Array; readonly now: number }) {
    const before = known(earlier)
    return before.withdrawn ? null : writeRecord(withdrawRows(before, now))
  },
  /** `null` if no record is of a member that takes part. */
  merge({ team, records, now }: MergeTask): MergedDocument | null {
    const uploads = rowsOfRecords(records)
    if (uploads[Symbol.iterator]().next().done === true) return null
    const { fingerprints, left_out, changesAt, generatedAt } = mergeUploads(uploads, now)
    const document = {
      version: FINGERPRINTS_VERSION,
      generated_at: generatedAt,
      window_days: WINDOW_DAYS,
      k: LEAST_SESSIONS,
      team,
      fingerprints,
      left_out,
    }
    return { ...written(document), parquet: mergedToParquet(fingerprints), changesAt }
  },
  /** What is published of closed spans and uploads: `bytes` of the file, `null` for none. */
  async publish({ bytes, records, patterns, now }: PublishTask): Promise<PublishedDocument> {
    const spans = bytes === null ? [] : await fingerprintsIn(bytes)
    const entries = mergeMembers(shareable(spans, now), rowsOfRecords(records), now)
      .filter(({ endpoint_class }) => matchesEndpoint(endpoint_class, patterns))
      .map(entry => ({
        ...entry,
        first_seen_ms: dayOf(entry.first_seen_ms),
        last_seen_ms: dayOf(entry.last_seen_ms),
      }))
    const head = {
      version: FINGERPRINTS_VERSION,
      // A day, as in all documents. A time in milliseconds would be that of a single call.
      generated_at: entries.reduce((latest, entry) => Math.max(latest, entry.last_seen_ms), 0),
      window_days: WINDOW_DAYS,
      k: LEAST_SESSIONS,
    }
    const lines = entries.map(entry => `${JSON.stringify(entry)}\n`).join('')
    const whole = written({ ...head, fingerprints: entries })
    return { ...whole, head, lines: new TextEncoder().encode(lines) }
  },
} as const

/** The published document as a whole, and its fingerprints one by one. */
export interface PublishedDocument extends Written {
  readonly head: Omit<ProviderDocument, 'fingerprints'>
  /**
   * The fingerprints as JSON, each followed by a line feed: one buffer that moves between
   * threads, where objects would be copied.
   */
  readonly lines: Uint8Array
}

interface PublishTask {
  readonly bytes: Uint8Array | null
  /** Records of members whose uploads are published too. */
  readonly records: readonly Uint8Array[]
  readonly patterns: readonly string[]
  readonly now: number
}

interface AdmitTask {
  readonly upload: CheckedUpload
  readonly earlier: Uint8Array | null
  readonly now: number
}

interface MergeTask {
  readonly team: string
  readonly records: readonly Uint8Array[]
  readonly now: number
}

export type Tasks = typeof TASKS

function known(bytes: Uint8Array) {
  const record = readRecord(bytes)
  if (record !== null) return record
  throw new AppError('internal', 'the record of an upload cannot be understood')
}

function written(document: object): Written {
  const json = writeEnvelope(document, 'json').bytes
  return {
    json,
    msgpack: new Uint8Array(writeEnvelope(document, 'msgpack').bytes),
    digest: hash('sha256', json, 'hex').slice(0, 32),
  }
}
