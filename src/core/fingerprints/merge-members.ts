import { type Fingerprint, LEAST_SESSIONS, LIMITS } from './fingerprint.ts'
import { fingerprintOf, noSums } from './formulas.ts'
import { addWeighted, FIELD, type PackedRows, ROW } from './packed-rows.ts'

/** Members whose rows an endpoint needs; of fewer nothing is published. */
const LEAST_MEMBERS = 3

/** What one of several has of an endpoint. */
interface MemberPart {
  readonly rows: PackedRows
  /** Places of its rows. */
  readonly at: readonly number[]
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
  own: PackedRows,
  members: readonly PackedRows[],
  now: number,
): Fingerprint[] {
  const ownParts = partsOf(own, now, () => true)
  const known = new Set(own.names.map((_, index) => identityOf(own, index)))
  const isNew = (rows: PackedRows, index: number) => !known.has(identityOf(rows, index))
  const byMember = members.map(rows => partsOf(rows, now, isNew))
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
function partsOf(
  rows: PackedRows,
  now: number,
  counts: (rows: PackedRows, index: number) => boolean,
): ReadonlyMap<string, MemberPart> {
  const places = new Map<string, number[]>()
  for (const [index, name] of rows.names.entries()) {
    const isLive = now - rows.numbers[index * ROW + FIELD.uploaded]! < LIMITS.keptMs
    if (!isLive || !counts(rows, index)) continue
    const known = places.get(name)
    if (known === undefined) places.set(name, [index * ROW])
    else known.push(index * ROW)
  }
  return new Map(
    [...places].map(([name, at]) => {
      const sumOf = (field: number) => at.reduce((sum, one) => sum + rows.numbers[one + field]!, 0)
      return [name, { rows, at, sessions: sumOf(FIELD.sessions), calls: sumOf(FIELD.calls) }]
    }),
  )
}

/** What a span is of, as far as an upload repeats it. */
function identityOf({ names, numbers }: PackedRows, index: number): string {
  const fields = [FIELD.calls, FIELD.sessions, FIELD.first, FIELD.last]
  return JSON.stringify([names[index], ...fields.map(field => numbers[index * ROW + field])])
}

function together(name: string, parts: readonly MemberPart[]): Fingerprint {
  const sums = noSums()
  const sessions = capped(parts.map(each => each.sessions))
  const calls = capped(parts.map(each => each.calls))
  for (const [index, { rows, at, sessions: seen }] of parts.entries()) {
    const factor = sessions[index]! / seen
    for (const one of at) {
      addWeighted(sums, rows, one, factor * rows.numbers[one + FIELD.sessions]!)
    }
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
