import { hash } from 'node:crypto'
import { DAY_MS, type Fingerprint, LEAST_SESSIONS, LIMITS } from './fingerprint.ts'
import { FIELD, type PackedRows, packRows, ROW, unpackRow } from './packed-rows.ts'
import type { PublishedSpan, UploadRecord } from './upload-record.ts'

/** Why a row of an upload is not published. */
export const REFUSALS = [
  /** It has fewer than `LEAST_SESSIONS` sessions. */
  'below_k',
  /** It begins before the window, or ends in the future. */
  'outside_window',
  /** Another row of the upload has a part of its time. */
  'overlaps_row',
  /** Figures of a part of its time were published, and the difference could be of fewer than `LEAST_SESSIONS` sessions. */
  'overlaps_published',
  /** The endpoint has too many rows, or too many were published of it. */
  'too_many_spans',
] as const

export type Refusal = (typeof REFUSALS)[number]

export interface RefusedRow {
  readonly endpoint_class: string
  readonly first_seen_ms: number
  readonly reason: Refusal
}

export interface Admission {
  readonly record: UploadRecord
  readonly accepted: number
  readonly refused: readonly RefusedRow[]
}

export interface UploadTerms {
  readonly member: string
  readonly windowDays: number
  /** Unix milliseconds. */
  readonly now: number
}

/** A row and when it was uploaded. */
interface Uploaded {
  readonly row: Fingerprint
  readonly at: number
}

/**
 * What is published of an upload that replaces a member's earlier one. A row is refused that has too few sessions; and one that shares
 * time with what was ever published of the endpoint in the window, unless it is the same again, or has all of those spans in it and at
 * least `LEAST_SESSIONS` sessions more than they have. So of the spans that were published of one member's endpoint any two are apart, or
 * one lies within the other, and no sum or difference of their figures is of fewer than `LEAST_SESSIONS` sessions: the argument is in
 * docs/fingerprints.md. Where a row is refused for what is published, that stays.
 * @param earlier the member's record; `null` where there is none
 */
export function admitRows(
  rows: readonly Fingerprint[],
  earlier: UploadRecord | null,
  { member, windowDays, now }: UploadTerms,
): Admission {
  const window = { from: now - (windowDays + 1) * DAY_MS, to: now + LIMITS.skewMs }
  const published = grouped(rememberedSpans(earlier, now), ({ name }) => name)
  const live = liveRows(earlier, now)
  const incoming = grouped(rows, ({ endpoint_class }) => endpoint_class)
  const refused: RefusedRow[] = []
  const accepted: Uploaded[] = []
  const kept: Uploaded[] = []
  const spans: PublishedSpan[] = []
  for (const name of new Set([...published.keys(), ...incoming.keys()])) {
    const before = published.get(name) ?? []
    const own: Fingerprint[] = []
    const held: Fingerprint[] = []
    spans.push(...before)
    for (const row of incoming.get(name) ?? []) {
      const span = spanOf(row)
      const reason = wrongWith(row, own, window) ?? clash(span, before)
      if (reason !== null) {
        refused.push({ endpoint_class: name, first_seen_ms: row.first_seen_ms, reason })
        if (reason === 'overlaps_published') held.push(row)
        continue
      }
      own.push(row)
      if (!before.some(each => isSame(each, span))) spans.push(span)
    }
    accepted.push(...own.map(row => ({ row, at: now })))
    if (held.length > 0) kept.push(...stillPublished(live.of(name), own, held))
  }
  const all = [...accepted, ...kept]
  const packed = packRows(
    all.map(({ row }) => row),
    index => all[index]!.at,
  )
  const record = { member, withdrawn: false, rows: packed, spans }
  return { record, accepted: accepted.length, refused }
}

/** What is left of a record whose member takes the upload back: the times of what was published, and no figures. */
export function withdrawRows(earlier: UploadRecord, now: number): UploadRecord {
  const { member } = earlier
  return {
    member,
    withdrawn: true,
    rows: NO_ROWS,
    spans: rememberedSpans(earlier, now),
  }
}

/** Spans that a row may still share time with: no row begins earlier than the widest window. */
function rememberedSpans(record: UploadRecord | null, now: number): PublishedSpan[] {
  return (record?.spans ?? []).filter(({ last }) => last >= now - LIMITS.keptMs - DAY_MS)
}

/** The rows that are published of an endpoint; few are ever asked for. */
function liveRows(record: UploadRecord | null, now: number) {
  const rows = record?.rows ?? NO_ROWS
  const indexes = grouped([...rows.names.keys()], index => rows.names[index]!)
  return {
    of: (name: string): Uploaded[] =>
      (indexes.get(name) ?? [])
        .map(index => ({ row: unpackRow(rows, index), at: uploadedAt(rows, index) }))
        .filter(({ at }) => now - at < LIMITS.keptMs),
  }
}

const NO_ROWS: PackedRows = { names: [], numbers: new Float64Array(0) }

function uploadedAt({ numbers }: PackedRows, index: number): number {
  return numbers[index * ROW + FIELD.uploaded]!
}

/** Earlier rows in whose time a row was held back, and none was accepted. */
function stillPublished(
  live: readonly Uploaded[],
  own: readonly Fingerprint[],
  held: readonly Fingerprint[],
): Uploaded[] {
  return live.filter(
    ({ row }) => held.some(each => shareTime(row, each)) && !own.some(each => shareTime(row, each)),
  )
}

function shareTime(a: Fingerprint, b: Fingerprint): boolean {
  return a.first_seen_ms <= b.last_seen_ms && b.first_seen_ms <= a.last_seen_ms
}

/** What is wrong with a row whatever was published before. */
function wrongWith(
  row: Fingerprint,
  own: readonly Fingerprint[],
  { from, to }: { readonly from: number; readonly to: number },
): Refusal | null {
  if (row.source_sessions < LEAST_SESSIONS) return 'below_k'
  if (row.first_seen_ms < from || row.last_seen_ms > to) return 'outside_window'
  if (own.length >= LIMITS.rowsOfEndpoint) return 'too_many_spans'
  return own.some(each => shareTime(each, row)) ? 'overlaps_row' : null
}

/** Whether figures of fewer than `LEAST_SESSIONS` sessions could follow from those of a span and those before. */
function clash(span: PublishedSpan, before: readonly PublishedSpan[]): Refusal | null {
  if (before.some(each => isSame(each, span))) return null
  if (before.length >= LIMITS.spansOfEndpoint) return 'too_many_spans'
  const sharing = before.filter(({ first, last }) => first <= span.last && span.first <= last)
  if (sharing.length === 0) return null
  if (!sharing.every(each => isWithin(each, span))) return 'overlaps_published'
  // Those within others have been counted with them.
  const outermost = sharing.filter(
    (each, index) =>
      !sharing.some((other, place) => {
        return place !== index && isWithin(each, other) && !(isWithin(other, each) && place > index)
      }),
  )
  const known = outermost.reduce((sum, { sessions }) => sum + sessions, 0)
  return span.sessions >= known + LEAST_SESSIONS ? null : 'overlaps_published'
}

function isWithin(inner: PublishedSpan, outer: PublishedSpan): boolean {
  return outer.first <= inner.first && inner.last <= outer.last
}

function isSame(a: PublishedSpan, b: PublishedSpan): boolean {
  return a.first === b.first && a.last === b.last && a.digest === b.digest
}

function spanOf(row: Fingerprint): PublishedSpan {
  // As it is written, which is how it would be uploaded again.
  const { numbers } = packRows([row], () => 0)
  const digest = hash('sha256', new Uint8Array(numbers.buffer), 'hex').slice(0, 16)
  return {
    name: row.endpoint_class,
    first: row.first_seen_ms,
    last: row.last_seen_ms,
    sessions: row.source_sessions,
    digest,
  }
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
