import { commonBytes } from '../parse/shared-messages.ts'

/** What a changed text is. */
export const CHANGE_KINDS = [
  'uuid',
  'jwt',
  'iso_datetime',
  'date',
  'hex',
  'tool_order',
  /** A long text that another conversation has too, behind another beginning. */
  'equal_text',
  'other',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** Bytes around the difference that are looked at; a JWT may be longer than anything else. */
const BEFORE = 2_048
const AFTER = 4_096

const MONTH =
  '(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|' +
  'Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)'

/** Each is linear. The more particular kind comes first. */
const PATTERNS: readonly (readonly [ChangeKind, RegExp])[] = [
  ['uuid', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi],
  ['jwt', /eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g],
  ['iso_datetime', /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g],
  ['date', /\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4}/g],
  ['date', new RegExp(`${MONTH} \\d\\d?(?:st|nd|rd|th)?,? \\d{4}|\\d\\d? ${MONTH} \\d{4}`, 'gi')],
  ['hex', /(?<![0-9a-z])[0-9a-f]{16,}(?![0-9a-z])/gi],
]

/** Where two texts differ first, and what is there. */
export interface Difference {
  /** Bytes that both begin with. */
  readonly at: number
  readonly kind: ChangeKind
}

/**
 * The first difference of two texts that differ. It is of a kind if both have a text of that kind
 * at the place.
 */
export function firstDifference(earlier: Buffer, later: Buffer): Difference {
  const at = commonBytes(earlier, later)
  const [one, two] = [around(earlier, at), around(later, at)]
  const found = PATTERNS.find(([, pattern]) => isWithin(one, pattern) && isWithin(two, pattern))
  return { at, kind: found?.[0] ?? 'other' }
}

/**
 * The first difference of two texts that differ, and then the first of each other kind. A kind
 * differs if both texts have equally many of it, and not the same ones. Linear.
 */
export function differencesOf(earlier: Buffer, later: Buffer): readonly Difference[] {
  const first = firstDifference(earlier, later)
  const found = new Map([[first.kind, first.at]])
  let [one, two] = [earlier.toString('latin1'), later.toString('latin1')]
  for (const [kind, pattern] of PATTERNS) {
    const [before, now] = [[...one.matchAll(pattern)], [...two.matchAll(pattern)]]
    const changed = now.findIndex(([text], index) => text !== before[index]?.[0])
    if (before.length === now.length && changed !== -1 && !found.has(kind)) {
      const { 0: text, index } = now[changed]!
      found.set(kind, index + commonBytes(Buffer.from(before[changed]![0]), Buffer.from(text)))
    }
    ;[one, two] = [one.replace(pattern, blanked), two.replace(pattern, blanked)]
  }
  const other = differenceBeside(one, two)
  if (other !== null && !found.has('other')) found.set('other', other)
  return [...found].map(([kind, at]) => ({ kind, at }))
}

/** What was of a kind, in as many characters, so that places stay what they are. */
const BLANK = '\0'
const blanked = (text: string) => BLANK.repeat(text.length)

/** Where the later of two texts differs outside of what is blank; `null`: nowhere. */
function differenceBeside(earlier: string, later: string): number | null {
  let [from, at] = [0, 0]
  while (from < earlier.length && at < later.length) {
    if (earlier[from] !== later[at]) return at
    if (earlier[from] === BLANK) {
      while (earlier[from] === BLANK) from++
      while (later[at] === BLANK) at++
    } else {
      from++
      at++
    }
  }
  return from < earlier.length || at < later.length ? at : null
}

interface Around {
  readonly text: string
  readonly at: number
}

function around(bytes: Buffer, at: number): Around {
  const start = Math.max(0, at - BEFORE)
  return { text: bytes.toString('latin1', start, at + AFTER), at: at - start }
}

function isWithin({ text, at }: Around, pattern: RegExp): boolean {
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) return false
    if (at < match.index + match[0].length) return true
  }
  return false
}
