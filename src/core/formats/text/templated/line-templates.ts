import { typedText } from '../../../base/typed-text.ts'
import { SLASH } from '../../../json/char-codes.ts'

/**
 * Lines of a text by what they have in common: runs of letters and digits in which a digit stands
 * are variable, everything else is fixed. Lines that one statement of a program printed mostly have
 * one template.
 */
export interface LineTemplates<Facts extends TemplateFacts = FamilyFacts> {
  /** The template of each line; -1 for a blank line, and for one beyond `MOST_TEMPLATES`. */
  readonly ids: Int32Array
  /** By template. */
  readonly facts: readonly Facts[]
}

export interface TemplateFacts {
  readonly first: number
  /** Lines that have it. */
  lines: number
  /** Fixed words of letters. */
  readonly words: number
  /** Fixed words before the first variable part. */
  readonly wordsBefore: number
  /** Words between spaces, fixed or not. */
  readonly parts: number
  /** Whether its lines may have digits. */
  readonly mayVary: boolean
  /** The first line in the text of all lines. */
  readonly start: number
  readonly end: number
}

export interface FamilyFacts extends TemplateFacts {
  /** A template of the same length of which only some words differ; see `createFamilies`. */
  readonly family: number
}

/** Templates with the text of all lines. */
export interface ReadTemplates extends LineTemplates<TemplateFacts> {
  readonly text: string
}

/** Templates beyond these are not told apart, so that their memory is bounded. */
const MOST_TEMPLATES = 1 << 16

/** The templates of lines with their families. */
export function mineTemplates(lines: readonly string[]): LineTemplates {
  const { ids, facts, text } = readTemplates(lines)
  const families = createFamilies({ isLoose: false })
  return {
    ids,
    facts: facts.map(each => ({ ...each, family: families.familyOf(text, each.start, each.end) })),
  }
}

/**
 * The templates of lines, in one pass. Rarely, different templates have the same hash of 52 bits.
 * Then their lines count as one.
 */
export function readTemplates(lines: readonly string[]): ReadTemplates {
  const ids = new Int32Array(lines.length).fill(-1)
  const facts: TemplateFacts[] = []
  const byHash = new Map<number, number>()
  // A line that was cut out of a text is read at a fourth of the speed of one text.
  const text = lines.join('\n')
  for (let at = 0, start = 0, end = 0; at < lines.length; at++, start = end + 1) {
    end = start + lines[at]!.length
    const hash = readLine(text, start, end)
    if (hash === BLANK) continue
    let id = byHash.get(hash)
    if (id === undefined) {
      if (facts.length === MOST_TEMPLATES) continue
      id = facts.length
      byHash.set(hash, id)
      const { words, wordsBefore, parts, mayVary } = scan
      facts.push({ first: at, lines: 0, words, wordsBefore, parts, mayVary, start, end })
    }
    ids[at] = id
    facts[id]!.lines++
  }
  return { ids, facts, text }
}

/** What is told by a character: 1 a letter, 2 a digit, 4 what joins digits, 8 white space. */
const LETTER = 1
const DIGIT = 2
const JOIN = 4
const SPACE = 8
const KINDS = kindsOfCharacters()

function kindsOfCharacters(): Uint8Array {
  const kinds = new Uint8Array(128)
  for (let c = 0; c < 128; c++) {
    const text = String.fromCharCode(c)
    if (/[A-Za-z]/.test(text)) kinds[c] = LETTER
    else if (/\d/.test(text)) kinds[c] = DIGIT
    else if ('.:,-_/+'.includes(text)) kinds[c] = JOIN
    else if (/\s/.test(text)) kinds[c] = SPACE
  }
  return kinds
}

const kindOf = (c: number): number => (c < 128 ? KINDS[c]! : LETTER)

/** A variable part, in a hash. */
const VARIABLE = 0x1f
const BLANK = -1
/** FNV-1a of 32 bits, and the same with another start; signed, as products are. */
const OFFSET_BASIS = 0x811c9dc5 | 0
const OTHER_BASIS = 0x9747b28c | 0
const PRIME = 0x01000193
const HIGH_BITS = 0xfffff
const TWO_32 = 0x100000000

/** What `readLine` found; one object, since it runs for each line. */
const scan = { words: 0, wordsBefore: 0, parts: 0, mayVary: false }

/**
 * The hash of the template of the line `[first, end)`, -1 for a blank line. Fills `scan`. The hash
 * is mixed in place, since it is slower if a function shares its variables.
 */
function readLine(string: string, first: number, end: number): number {
  const text = typedText(string)
  let low = OFFSET_BASIS
  let high = OTHER_BASIS
  let words = 0
  let variables = 0
  let wordsBefore = 0
  let parts = 0
  /** A sign that is read as a variable part. */
  let hasVariableSign = false
  /** Where characters begin that may join the last variable part with the next; -1: none do. */
  let joint = -1
  let isBlank = true
  let wasSpace = true
  for (let at = first; at < end; ) {
    const start = at
    const c = text.charCodeAt(at)
    let kinds = kindOf(c)
    if (kinds === LETTER || kinds === DIGIT) {
      for (at++; at < end; at++) {
        const inner = kindOf(text.charCodeAt(at))
        if (inner !== LETTER && inner !== DIGIT) break
        kinds |= inner
      }
      isBlank = false
      if (wasSpace) parts++
      wasSpace = false
      if ((kinds & DIGIT) === 0) {
        for (let i = joint === -1 ? start : joint; i < at; i++) {
          const mixed = text.charCodeAt(i)
          low = Math.imul(low ^ mixed, PRIME)
          high = Math.imul(high ^ (mixed + 0x55), PRIME)
        }
        joint = -1
        if (at - start === 1) continue
        words++
        if (variables === 0) wordsBefore++
        continue
      }
      if (joint === -1) {
        low = Math.imul(low ^ VARIABLE, PRIME)
        high = Math.imul(high ^ (VARIABLE + 0x55), PRIME)
        variables++
      }
      joint = at
      continue
    }
    at++
    const isSpace = kinds === SPACE
    if (!isSpace && wasSpace) parts++
    if (c === VARIABLE) hasVariableSign = true
    const isJoining = joint !== -1 && kinds === JOIN
    if (!isSpace && !isJoining) isBlank = false
    if (!isJoining) {
      for (; joint !== -1 && joint < start; joint++) {
        const mixed = text.charCodeAt(joint)
        low = Math.imul(low ^ mixed, PRIME)
        high = Math.imul(high ^ (mixed + 0x55), PRIME)
      }
      joint = -1
      // Padding differs with the length of what is before it.
      if (!isSpace || !wasSpace) {
        const mixed = isSpace ? SPACE : c
        low = Math.imul(low ^ mixed, PRIME)
        high = Math.imul(high ^ (mixed + 0x55), PRIME)
      }
    }
    wasSpace = isSpace
  }
  for (; joint !== -1 && joint < end; joint++) {
    const mixed = text.charCodeAt(joint)
    low = Math.imul(low ^ mixed, PRIME)
    high = Math.imul(high ^ (mixed + 0x55), PRIME)
  }
  scan.words = words
  scan.wordsBefore = wordsBefore
  scan.parts = parts
  scan.mayVary = variables > 0 || hasVariableSign
  return isBlank ? BLANK : (low >>> 0) + (high & HIGH_BITS) * TWO_32
}

/** Words of a line that are compared. */
const MOST_WORDS = 48
/** Families with the same length and first word that a template is compared with. */
const MOST_COMPARED = 12
/** Share of a family's fixed words that a template of it has in common with it. */
const LIKENESS = 0.6

/** A family's words by their places, as hashes; 0 for one that varies. */
interface Family {
  readonly id: number
  readonly words: Int32Array
  readonly fixed: number
}

/**
 * The places of lines of which at least so many have as many words, and so many of these may have
 * digits. Lines of one family have as many words, so those of others need not be looked for.
 * @param places of lines that have a template, in order
 */
export function likePlaces(
  places: readonly number[],
  { ids, facts }: LineTemplates<TemplateFacts>,
  fewest: { readonly lines: number; readonly varying: number },
): readonly number[] {
  const lines = new Uint32Array(MOST_WORDS + 1)
  const varying = new Uint32Array(MOST_WORDS + 1)
  const groupAt = (at: number) => Math.min(facts[ids[at]!]!.parts, MOST_WORDS)
  for (const at of places) {
    const group = groupAt(at)
    lines[group]!++
    if (facts[ids[at]!]!.mayVary) varying[group]!++
  }
  return places.filter(at => {
    const group = groupAt(at)
    return lines[group]! >= fewest.lines && varying[group]! >= fewest.varying
  })
}

/**
 * The lines of each family.
 * @param places of lines that have a template, in order
 * @param isLoose of listings, by what a looser reader sees in common: as many words, one of the
 * same ends, and of paths only the first folder
 */
export function familiesAmong(
  places: readonly number[],
  { ids, facts, text }: ReadTemplates,
  { isLoose }: { readonly isLoose: boolean },
): readonly (readonly number[])[] {
  const families = createFamilies({ isLoose })
  const byTemplate: (number[] | undefined)[] = []
  const found: number[][] = []
  for (const at of places) {
    const id = ids[at]!
    let known = byTemplate[id]
    if (known === undefined) {
      const { start, end } = facts[id]!
      known = found[families.familyOf(text, start, end)] ??= []
      byTemplate[id] = known
    }
    known.push(at)
  }
  return found
}

/**
 * Families of templates: as many words, the same first one, and most of the others equal. The work
 * for a template is bounded.
 */
function createFamilies({ isLoose }: { readonly isLoose: boolean }): {
  /** The family of the line `[start, end)`. */
  familyOf(text: string, start: number, end: number): number
} {
  const byStart = new Map<number, Family[]>()
  const byEnd = new Map<number, Family[]>()
  let count = 0
  return {
    familyOf(text, start, end) {
      const length = readWords(text, start, end, isLoose)
      let first = 0
      let last = 0
      let fixed = 0
      for (let i = 0; i < length; i++) {
        const word = wordsRead[i]!
        if (word === 0) continue
        if (fixed++ === 0) first = word
        last = word
      }
      const known = among(byStart, first, length)
      const others = isLoose ? among(byEnd, last, length) : undefined
      const family = likeOf(known, length) ?? (others && likeOf(others, length))
      if (family !== undefined) {
        for (let i = 0; i < length; i++) {
          if (wordsRead[i] !== family.words[i]) family.words[i] = 0
        }
        return family.id
      }
      const id = count++
      const fresh = { id, words: wordsRead.slice(0, length), fixed }
      if (known.length < MOST_COMPARED) known.push(fresh)
      if (others !== undefined && others.length < MOST_COMPARED) others.push(fresh)
      return id
    },
  }
}

/** The families of lines with so many words and this one. */
function among(families: Map<number, Family[]>, word: number, length: number): Family[] {
  const key = Math.imul(word, PRIME) ^ length
  let known = families.get(key)
  if (known === undefined) {
    known = []
    families.set(key, known)
  }
  return known
}

/** The first family that has enough of the words that were read. */
function likeOf(families: readonly Family[], length: number): Family | undefined {
  for (const family of families) {
    let same = 0
    for (let i = 0; i < length; i++) {
      if (wordsRead[i] !== 0 && wordsRead[i] === family.words[i]) same++
    }
    if (same >= family.fixed * LIKENESS && same > 0) return family
  }
  return undefined
}

/** The words of the line that is being read; one list, since it is filled for each template. */
const wordsRead = new Int32Array(MOST_WORDS)

/**
 * Fills `wordsRead` with hashes of the words between spaces of the line `[first, end)`, 0 for one
 * with a digit. Returns how many there are. If `isLoose` holds, what is below the first folder of a
 * path does not count.
 */
function readWords(string: string, first: number, end: number, isLoose: boolean): number {
  const text = typedText(string)
  let count = 0
  let at = first
  for (; count < MOST_WORDS; count++) {
    while (at < end && kindOf(text.charCodeAt(at)) === SPACE) at++
    if (at === end) break
    const start = at
    let hash = OFFSET_BASIS
    let isVariable = false
    let isBelow = false
    for (; at < end; at++) {
      const c = text.charCodeAt(at)
      const kind = kindOf(c)
      if (kind === SPACE) break
      if (isBelow) continue
      hash = Math.imul(hash ^ c, PRIME)
      isBelow = isLoose && at > start && c === SLASH
      if (kind === DIGIT) isVariable = true
    }
    wordsRead[count] = isVariable ? 0 : hash | 1
  }
  return count
}
