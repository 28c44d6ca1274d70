import { LINE_FEED } from '../../../json/char-codes.ts'
import { type Part, SLOT } from './record-parts.ts'

/** Neighbouring parts that repeat: `count` records of `size` parts each. */
export interface RecordRun {
  readonly start: number
  readonly size: number
  readonly count: number
}

/** Longer records are not looked for. */
const MOST_PARTS = 32
const FEWEST_RECORDS = 3
/** Of FNV-1a. */
const HASH_PRIME = 0x01000193

/**
 * The runs of a text's parts, from the first to the last: at each place the one that has the most
 * in common. Linear: each place is compared with the next few.
 */
export function findRuns(parts: readonly Part[]): readonly RecordRun[] {
  if (!mayRepeat(parts)) return []
  const { ids, times } = frameIds(parts)
  const same = sameAhead(ids)
  const runs: RecordRun[] = []
  for (let at = 0; at < parts.length; ) {
    const run = times[ids[at]!]! < FEWEST_RECORDS ? null : runAt(at, parts, same)
    if (run === null) at++
    else {
      runs.push(run)
      at += run.size * run.count
    }
  }
  return runs
}

/**
 * Whether a part with values comes often enough: each record of a run has one, which all have. Of
 * most texts no other part must be looked at.
 */
function mayRepeat(parts: readonly Part[]): boolean {
  const times = new Map<string, number>()
  for (const { frame, values } of parts) {
    if (values.length === 0) continue
    const known = (times.get(frame) ?? 0) + 1
    if (known === FEWEST_RECORDS) return true
    times.set(frame, known)
  }
  return false
}

/**
 * Whether enough lines have the same text before what may be their first value: after an equals
 * sign, or after the bracket of a heading. Other texts need not be taken apart.
 */
export function hasLikeLines(text: string): boolean {
  let headings = text.startsWith('[') ? 1 : 0
  for (let at = text.indexOf('\n['); at !== -1; at = text.indexOf('\n[', at + 1)) {
    if (++headings === FEWEST_RECORDS) return true
  }
  // By a hash, as lines that only seem to be alike are compared later.
  const times = new Map<number, number>()
  for (let sign = text.indexOf('='); sign !== -1; ) {
    let hash = 0
    for (let at = sign - 1; at >= 0; at--) {
      const c = text.charCodeAt(at)
      if (c === LINE_FEED) break
      hash = Math.imul(hash ^ c, HASH_PRIME)
    }
    const known = (times.get(hash) ?? 0) + 1
    if (known === FEWEST_RECORDS) return true
    times.set(hash, known)
    const end = text.indexOf('\n', sign)
    sign = end === -1 ? -1 : text.indexOf('=', end)
  }
  return false
}

/** A number for the frame of each part, and how many parts have the frame of a number. */
function frameIds(parts: readonly Part[]): {
  readonly ids: Uint32Array
  readonly times: readonly number[]
} {
  const known = new Map<string, number>()
  const ids = new Uint32Array(parts.length)
  const times: number[] = []
  for (let at = 0; at < parts.length; at++) {
    const { frame } = parts[at]!
    let id = known.get(frame)
    if (id === undefined) {
      id = times.length
      known.set(frame, id)
      times.push(0)
    }
    ids[at] = id
    times[id]!++
  }
  return { ids, times }
}

/** For each distance, how many parts from a place on have the same frame as those so far ahead. */
function sameAhead(ids: Uint32Array): readonly Uint32Array[] {
  return Array.from({ length: MOST_PARTS }, (_, index) => {
    const distance = index + 1
    const same = new Uint32Array(ids.length + 1)
    for (let at = ids.length - distance - 1; at >= 0; at--) {
      if (ids[at] === ids[at + distance]) same[at] = same[at + 1]! + 1
    }
    return same
  })
}

function runAt(at: number, parts: readonly Part[], same: readonly Uint32Array[]): RecordRun | null {
  // A record that begins with an end tag would be hard to read.
  if (/^\s*<\//.test(parts[at]!.frame) || parts[at]!.frame.trim() === '') return null
  let best: RecordRun | null = null
  let most = 0
  for (let size = 1; size <= MOST_PARTS; size++) {
    const count = Math.floor(same[size - 1]![at]! / size) + 1
    if (count < FEWEST_RECORDS) continue
    let chars = 0
    let slots = 0
    for (let part = at; part < at + size; part++) {
      chars += parts[part]!.frame.length
      slots += parts[part]!.values.length
    }
    const gain = (count - 1) * (chars - 2 * slots)
    if (slots === 0 || gain <= most) continue
    most = gain
    best = { start: at, size, count }
  }
  return best
}

/** The frames of a record's parts as one, and the values of each record. */
export function recordsOf(
  { start, size, count }: RecordRun,
  parts: readonly Part[],
): { readonly frame: string; readonly rows: readonly (readonly string[])[] } {
  const frame = parts
    .slice(start, start + size)
    .map(part => part.frame)
    .join('')
  const rows = Array.from({ length: count }, (_, record) => {
    const from = start + record * size
    return parts.slice(from, from + size).flatMap(({ values }) => values)
  })
  return { frame, rows }
}

/** The text of the parts `[start, end)`. */
export function textOfParts(parts: readonly Part[], start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at++) {
    const { frame, values } = parts[at]!
    let slot = 0
    text += frame.replaceAll(SLOT, () => values[slot++] ?? '')
  }
  return text
}
