/**
 * Lines of a text by what they have in common: runs of letters and digits in which a digit stands
 * are variable, everything else is fixed. Lines that one statement of a program printed mostly have
 * one template.
 */
export interface LineTemplates {
  /** The template of each line; -1 for a blank line, and for one beyond `MOST_TEMPLATES`. */
  readonly ids: Int32Array
  /** By template. */
  readonly facts: readonly TemplateFacts[]
}

export interface TemplateFacts {
  readonly first: number
  /** Lines that have it. */
  lines: number
  /** Fixed words of letters. */
  readonly words: number
  /** Fixed words before the first variable part. */
  readonly wordsBefore: number
  /** A template of the same length of which only some words differ; see `createFamilies`. */
  readonly family: number
}

/** Templates beyond these are not told apart, so that their memory is bounded. */
const MOST_TEMPLATES = 1 << 16

/**
 * The templates of lines, in one pass. Rarely, different templates have the same hash of 52 bits.
 * Then their lines count as one.
 */
export function mineTemplates(lines: readonly string[]): LineTemplates {
  const ids = new Int32Array(lines.length).fill(-1)
  const facts: TemplateFacts[] = []
  const byHash = new Map<number, number>()
  const families = createFamilies({ isLoose: false })
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const hash = readLine(line)
    if (hash === BLANK) continue
    let id = byHash.get(hash)
    if (id === undefined) {
      if (facts.length === MOST_TEMPLATES) continue
      id = facts.length
      byHash.set(hash, id)
      const { words, wordsBefore } = scan
      const family = families.familyOf(line)
      facts.push({ first: at, lines: 0, words, wordsBefore, family })
    }
    ids[at] = id
    facts[id]!.lines++
  }
  return { ids, facts }
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
/** FNV-1a of 32 bits, and the same with another start. */
const OFFSET_BASIS = 0x811c9dc5
const OTHER_BASIS = 0x9747b28c
const PRIME = 0x01000193
const HIGH_BITS = 0xfffff
const TWO_32 = 0x100000000

/** What `readLine` found; one object, since it runs for each line. */
const scan = { words: 0, variables: 0, wordsBefore: 0 }

/** The hash of a line's template, -1 for a blank line. Fills `scan`. */
function readLine(line: string): number {
  let low = OFFSET_BASIS
  let high = OTHER_BASIS
  const mix = (c: number) => {
    low = Math.imul(low ^ c, PRIME)
    high = Math.imul(high ^ (c + 0x55), PRIME)
  }
  scan.words = 0
  scan.variables = 0
  scan.wordsBefore = 0
  /** Where characters begin that may join the last variable part with the next; -1: none do. */
  let joint = -1
  let isBlank = true
  let wasSpace = true
  for (let at = 0; at < line.length; ) {
    const kind = kindOf(line.charCodeAt(at))
    if (kind === LETTER || kind === DIGIT) {
      const start = at
      let kinds = 0
      for (; at < line.length; at++) {
        const inner = kindOf(line.charCodeAt(at))
        if (inner !== LETTER && inner !== DIGIT) break
        kinds |= inner
      }
      if ((kinds & DIGIT) !== 0) {
        if (joint === -1) {
          mix(VARIABLE)
          scan.variables++
        }
        joint = at
      } else {
        if (joint !== -1) for (; joint < start; joint++) mix(line.charCodeAt(joint))
        joint = -1
        for (let i = start; i < at; i++) mix(line.charCodeAt(i))
        if (at - start > 1) {
          scan.words++
          if (scan.variables === 0) scan.wordsBefore++
        }
      }
      isBlank = false
      wasSpace = false
      continue
    }
    if (joint === -1 || kind !== JOIN) {
      if (joint !== -1) for (; joint < at; joint++) mix(line.charCodeAt(joint))
      joint = -1
      // Padding differs with the length of what is before it.
      if (kind !== SPACE) mix(line.charCodeAt(at))
      else if (!wasSpace) mix(SPACE)
      if (kind !== SPACE) isBlank = false
    }
    wasSpace = kind === SPACE
    at++
  }
  if (joint !== -1) for (; joint < line.length; joint++) mix(line.charCodeAt(joint))
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
 * Families of listings, by what a looser reader sees in common: as many words, one of the same
 * ends, and of paths only the first folder.
 * @param places of lines that have a template, in order
 */
export function looseFamilies(
  lines: readonly string[],
  places: readonly number[],
  { ids, facts }: LineTemplates,
): readonly (readonly number[])[] {
  const families = createFamilies({ isLoose: true })
  const byTemplate = new Map<number, number[]>()
  const found = new Map<number, number[]>()
  for (const at of places) {
    const id = ids[at]!
    let known = byTemplate.get(id)
    if (known === undefined) {
      const family = families.familyOf(lines[facts[id]!.first]!)
      known = found.get(family) ?? []
      found.set(family, known)
      byTemplate.set(id, known)
    }
    known.push(at)
  }
  return [...found.values()]
}

/**
 * Families of templates: as many words, the same first one, and most of the others equal. The work
 * for a template is bounded.
 */
function createFamilies({ isLoose }: { readonly isLoose: boolean }): {
  familyOf(line: string): number
} {
  const byStart = new Map<number, Family[]>()
  const byEnd = new Map<number, Family[]>()
  let count = 0
  return {
    familyOf(line) {
      const words = wordsOf(line, isLoose)
      let first = 0
      let last = 0
      let fixed = 0
      for (let i = 0; i < words.length; i++) {
        if (words[i] === 0) continue
        if (fixed++ === 0) first = words[i]!
        last = words[i]!
      }
      const known = among(byStart, first, words.length)
      const others = isLoose ? among(byEnd, last, words.length) : undefined
      const family = likeOf(known, words) ?? (others && likeOf(others, words))
      if (family !== undefined) {
        for (let i = 0; i < words.length; i++) {
          if (words[i] !== family.words[i]) family.words[i] = 0
        }
        return family.id
      }
      const id = count++
      const fresh = { id, words, fixed }
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

function likeOf(families: readonly Family[], words: Int32Array): Family | undefined {
  for (const family of families) {
    let same = 0
    for (let i = 0; i < words.length; i++) {
      if (words[i] !== 0 && words[i] === family.words[i]) same++
    }
    if (same >= family.fixed * LIKENESS && same > 0) return family
  }
  return undefined
}

const SLASH = 0x2f

/** The words of the line that is being read; one list, since it is filled for each template. */
const wordsRead = new Int32Array(MOST_WORDS)

/**
 * Hashes of a line's words between spaces; 0 for one with a digit. If `isLoose` holds, what is
 * below the first folder of a path does not count.
 */
function wordsOf(line: string, isLoose: boolean): Int32Array {
  let count = 0
  let hash = OFFSET_BASIS
  let isVariable = false
  let isIn = false
  let isBelow = false
  for (let at = 0; at <= line.length && count < MOST_WORDS; at++) {
    const kind = at === line.length ? SPACE : kindOf(line.charCodeAt(at))
    if (kind === SPACE) {
      if (isIn) wordsRead[count++] = isVariable ? 0 : hash | 1
      hash = OFFSET_BASIS
      isVariable = false
      isIn = false
      isBelow = false
    } else if (!isBelow) {
      const c = line.charCodeAt(at)
      hash = Math.imul(hash ^ c, PRIME)
      isBelow = isLoose && isIn && c === SLASH
      if (kind === DIGIT) isVariable = true
      isIn = true
    }
  }
  return wordsRead.slice(0, count)
}
