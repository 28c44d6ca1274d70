import { type Fingerprint, LEAST_SESSIONS, LIMITS } from './fingerprint.ts'
import { fingerprintOf, noSums } from './formulas.ts'
import type { UploadedRow } from './upload-record.ts'
import { addWeighted } from './weighted-sums.ts'

/** Members whose rows an endpoint needs; of fewer nothing is published. */
const LEAST_MEMBERS = 3

/** What one of several has of an endpoint. */
interface MemberPart {
  readonly rows: readonly Fingerprint[]
  readonly sessions: number
  readonly calls: number
}

/**
 * An installation's own spans together with what members uploaded to it, for publication. Of an
 * endpoint that fewer than three members have, only the own spans count. What a
 * member says cannot be checked, so no part has more than half of the weight, and none more than
 * half of the calls. A row that a member uploaded of the publisher's own span counts once.
 * @param own closed spans, one installation's @param members one upload each
 * @param now Unix milliseconds
 */
export function mergeMembers(
  own: readonly Fingerprint[],
  members: Iterable<readonly UploadedRow[]>,
  now: number,
): Fingerprint[] {
  const ownParts = partsOf(own)
  const known = new Set(own.map(identityOf))
  const byMember = Array.from(members, rows => {
    const live = rows.filter(
      ({ row, at }) => now - at < LIMITS.keptMs && !known.has(identityOf(row)),
    )
    return partsOf(live.map(({ row }) => row))
  })
  const names = new Set([ownParts, ...byMember].flatMap(parts => [...parts.keys()]))
  return [...names].sort().flatMap(name => {
    const uploaded = byMember.flatMap(parts => parts.get(name) ?? [])
    const mine = ownParts.get(name)
    const parts = [
      ...(mine === undefined ? [] : [mine]),
      ...(uploaded.length >= LEAST_MEMBERS ? uploaded : []),
    ]
    return parts.length === 0 ? [] : [together(name, parts)]
  })
}

/** By endpoint. */
function partsOf(rows: readonly Fingerprint[]): ReadonlyMap<string, MemberPart> {
  const byName = Map.groupBy(rows, ({ endpoint_class }) => endpoint_class)
  return new Map(
    [...byName].map(([name, own]) => {
      const sumOf = (field: 'source_sessions' | 'call_count') =>
        own.reduce((sum, row) => sum + row[field], 0)
      return [name, { rows: own, sessions: sumOf('source_sessions'), calls: sumOf('call_count') }]
    }),
  )
}

/** What a span is of, as far as an upload repeats it. */
function identityOf(row: Fingerprint): string {
  const { endpoint_class, call_count, source_sessions, first_seen_ms, last_seen_ms } = row
  return JSON.stringify([endpoint_class, call_count, source_sessions, first_seen_ms, last_seen_ms])
}

function together(name: string, parts: readonly MemberPart[]): Fingerprint {
  const sums = noSums()
  const sessions = capped(parts.map(each => each.sessions))
  const calls = capped(parts.map(each => each.calls))
  for (const [index, { rows, sessions: seen }] of parts.entries()) {
    const factor = sessions[index]! / seen
    for (const row of rows) addWeighted(sums, row, factor * row.source_sessions)
    sums.sessions += sessions[index]!
    sums.calls += calls[index]!
  }
  sums.sessions = Math.max(LEAST_SESSIONS, Math.floor(sums.sessions))
  return fingerprintOf(name, sums)
}

/** The figures, of which the largest is at most the sum of the others. One alone stays. */
function capped(figures: readonly number[]): readonly number[] {
  if (figures.length === 1) return figures
  const all = figures.reduce((sum, each) => sum + each, 0)
  return figures.map(each => Math.min(each, all - each))
}
