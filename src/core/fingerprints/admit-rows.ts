import { hash } from 'node:crypto'
import { DAY_MS, dayOf, type Fingerprint, LEAST_SESSIONS, LIMITS } from './fingerprint.ts'
import { HISTOGRAM_NAMES, PARTS, RATES } from './histograms.ts'
import type { PublishedSpan, UploadedRow, UploadRecord } from './upload-record.ts'

/** Why a row of an upload is not published. */
export const REFUSALS = [
  /** It has fewer than `LEAST_SESSIONS` sessions. */
  'below_k',
  /** It begins before the window, or ends in the future. */
  'outside_window',
  /** Another row of the upload has one of its days. */
  'overlaps_row',
  /**
   * Figures of one of its days were published, and the difference could be of fewer than
   * `LEAST_SESSIONS` sessions.
   */
  'overlaps_published',
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

/**
 * Decides which rows of an upload are published. The upload replaces the member's earlier one. A
 * row with too few sessions is refused. A row is also refused if it shares a day with a span that
 * was ever published of the endpoint in the window. There are two exceptions: the row is equal to
 * that span, or it contains all such spans and has at least `LEAST_SESSIONS` sessions more than
 * they have. So two published spans of one member's endpoint share no day, or one contains the
 * other. No sum or difference of their figures is of fewer than `LEAST_SESSIONS` sessions: the
 * argument is in docs/reference/telemetry.md. If a row is refused for a published one, the
 * published one stays, with its age.
 * @param earlier the member's record; `null` if there is none
 */
export function admitRows(
  rows: readonly Fingerprint[],
  earlier: UploadRecord | null,
  { member, windowDays, now }: UploadTerms,
): Admission {
  const window = { from: now - (windowDays + 1) * DAY_MS, to: now + LIMITS.skewMs }
  const published = Map.groupBy(rememberedSpans(earlier, now), ({ name }) => name)
  const liveRows = (earlier?.rows ?? []).filter(({ at }) => now - at < LIMITS.keptMs)
  const live = Map.groupBy(liveRows, ({ row }) => row.endpoint_class)
  const incoming = Map.groupBy(rows, ({ endpoint_class }) => endpoint_class)
  const refused: RefusedRow[] = []
  const accepted: Fingerprint[] = []
  const kept: UploadedRow[] = []
  const spans: PublishedSpan[] = []
  for (const name of new Set([...published.keys(), ...incoming.keys()])) {
    let outermost = published.get(name) ?? []
    const own: Fingerprint[] = []
    const held: Fingerprint[] = []
    for (const row of incoming.get(name) ?? []) {
      const span = spanOf(row)
      const reason = wrongWith(row, own, window) ?? clash(span, outermost)
      if (reason === null) {
        const isAlone = !outermost.some(each => shareDay(each, span) && !isSame(each, span))
        own.push(isAlone ? row : withoutDistributions(row))
        // Spans within it are remembered with it.
        outermost = [...outermost.filter(each => !shareDay(each, span)), span]
      } else {
        refused.push({ endpoint_class: name, first_seen_ms: row.first_seen_ms, reason })
        if (reason === 'overlaps_published') held.push(row)
      }
    }
    for (const item of outermost) spans.push(item)
    for (const item of own.map(withoutFew)) accepted.push(item)
    if (held.length > 0) {
      for (const item of stillPublished(live.get(name) ?? [], own, held)) kept.push(item)
    }
  }
  const all = [...accepted.map(row => ({ row, at: now })), ...kept]
  const record = { member, withdrawn: false, rows: all, spans }
  return { record, accepted: accepted.length, refused }
}

/**
 * The record after its member withdraws the upload: the times of what was published, without
 * figures.
 */
export function withdrawRows(earlier: UploadRecord, now: number): UploadRecord {
  const spans = rememberedSpans(earlier, now)
  return { member: earlier.member, withdrawn: true, rows: [], spans }
}

/** Spans that a row may still share time with: no row begins earlier than the widest window. */
function rememberedSpans(record: UploadRecord | null, now: number): PublishedSpan[] {
  return (record?.spans ?? []).filter(
    ({ last }) => dayOf(last) >= dayOf(now - LIMITS.keptMs - DAY_MS),
  )
}

/** Earlier rows that stay published: in their days a new row was refused and none was accepted. */
function stillPublished(
  live: readonly UploadedRow[],
  own: readonly Fingerprint[],
  held: readonly Fingerprint[],
): UploadedRow[] {
  const share = (a: Fingerprint, b: Fingerprint) => shareDay(timeOf(a), timeOf(b))
  return live.filter(
    ({ row }) => held.some(each => share(row, each)) && !own.some(each => share(row, each)),
  )
}

/** The reason to refuse a row by itself, whatever was published before. */
function wrongWith(
  row: Fingerprint,
  own: readonly Fingerprint[],
  { from, to }: { readonly from: number; readonly to: number },
): Refusal | null {
  if (row.source_sessions < LEAST_SESSIONS) return 'below_k'
  if (row.first_seen_ms < from || row.last_seen_ms > to) return 'outside_window'
  return own.some(each => shareDay(timeOf(each), timeOf(row))) ? 'overlaps_row' : null
}

/**
 * Whether figures of fewer than `LEAST_SESSIONS` sessions could follow from those of a span and
 * those before.
 * @param before spans that share no day
 */
function clash(span: PublishedSpan, before: readonly PublishedSpan[]): Refusal | null {
  const sharing = before.filter(each => shareDay(each, span))
  if (sharing.length === 0 || sharing.some(each => isSame(each, span))) return null
  const known = sharing.reduce((sum, { sessions }) => sum + sessions, 0)
  const isMore = span.sessions >= known + LEAST_SESSIONS
  return isMore && sharing.every(each => isWithin(each, span)) ? null : 'overlaps_published'
}

/** First and last moment, Unix milliseconds. */
interface Time {
  readonly first: number
  readonly last: number
}

function timeOf({ first_seen_ms, last_seen_ms }: Fingerprint): Time {
  return { first: first_seen_ms, last: last_seen_ms }
}

/**
 * Whether two times share a day. Documents have days too. A finer answer would reveal the moment of
 * one call to a client that asks often.
 */
function shareDay(a: Time, b: Time): boolean {
  return dayOf(a.first) <= dayOf(b.last) && dayOf(b.first) <= dayOf(a.last)
}

/**
 * Whether nothing of a time is missing in another: that one begins and ends at the same moment, or
 * at least a day beyond.
 */
function isWithin(inner: Time, outer: Time): boolean {
  return (
    (outer.first === inner.first || dayOf(outer.first) < dayOf(inner.first)) &&
    (outer.last === inner.last || dayOf(outer.last) > dayOf(inner.last))
  )
}

function isSame(a: PublishedSpan, b: PublishedSpan): boolean {
  return a.first === b.first && a.last === b.last && a.digest === b.digest
}

function spanOf(row: Fingerprint): PublishedSpan {
  const digest = hash('sha256', JSON.stringify(row), 'hex').slice(0, 16)
  const { endpoint_class: name, source_sessions: sessions } = row
  return { name, ...timeOf(row), sessions, digest }
}

/**
 * Without histograms and rates: of a row that contains others, a bucket less theirs may be of fewer
 * than `LEAST_SESSIONS` sessions.
 */
function withoutDistributions(row: Fingerprint): Fingerprint {
  const { repeat_burst, response_chars, depth, elided, retrieved, needed, ...rest } = row
  return rest
}

/**
 * Without figures of so few responses that they are of fewer than `LEAST_SESSIONS` sessions: means,
 * histograms with such a bucket, rates.
 */
function withoutFew(given: Fingerprint): Fingerprint {
  const isFew = (part = 0) => Math.round(given.call_count * part) < LEAST_SESSIONS
  const row = { ...given }
  for (const name of HISTOGRAM_NAMES) {
    const of = name === 'repeat_burst' ? row.dup_rate : 1
    if (row[name]?.some(part => part > 0 && isFew((of * part) / PARTS))) delete row[name]
  }
  for (const name of RATES) if (row[name] !== undefined && isFew(row[name])) delete row[name]
  return {
    ...row,
    ...(isFew(row.shape_mix.markdown_table) ? { avg_cols: null, avg_rows: null } : {}),
    ...(isFew(row.shape_mix.array_of_objects) ? { key_stability_mean: null } : {}),
  }
}
