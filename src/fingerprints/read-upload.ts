import { type MediaType, readEnvelope } from '../core/contract/envelope.ts'
import { validate } from '../core/contract/validate.ts'
import { LIMITS } from '../core/fingerprints/fingerprint.ts'
import { packRows } from '../core/fingerprints/packed-rows.ts'
import { type Upload, uploadRequest } from '../core/fingerprints/upload.ts'
import { writeRecord } from '../core/fingerprints/upload-record.ts'
import { readParquet } from './parquet-file.ts'

/** How bodies of uploads are written. */
export type UploadMedia = MediaType | 'parquet'

/**
 * A body, and what stands beside it: a Parquet file names neither its member nor its window.
 */
export interface UploadBody {
  readonly body: Uint8Array
  readonly media: UploadMedia
  readonly member?: string
  readonly windowDays?: number
}

/** An upload as it crosses threads: its rows packed as a record, not yet admitted. */
export interface PackedUpload {
  readonly member: string
  readonly windowDays: number
  readonly rows: Uint8Array
}

/** Depth and values of an upload of the most rows, with shapes and formats in each. */
const ENVELOPE = { maxDepth: 8, maxValues: LIMITS.rows * 60 }

/**
 * Parses and checks an upload.
 * @throws AppError `invalid_request`, with the fields that are wrong
 */
export async function readUpload(upload: UploadBody): Promise<PackedUpload> {
  const { member, window_days, endpoints } = validate(uploadRequest, await envelopeOf(upload))
  const rows = packRows(endpoints, () => 0)
  return {
    member,
    windowDays: window_days,
    rows: writeRecord({ member, withdrawn: false, rows, spans: [] }),
  }
}

async function envelopeOf(upload: UploadBody): Promise<unknown> {
  const { body, media, member, windowDays } = upload
  if (media !== 'parquet') return readEnvelope(body, media, ENVELOPE)
  const asked: { -readonly [K in keyof Upload]?: unknown } = {
    member,
    endpoints: await readParquet(body, LIMITS.rows),
  }
  if (windowDays !== undefined) asked.window_days = windowDays
  return asked
}
