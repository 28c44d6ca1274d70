/** Words in a row from which a line reads as a message for people, and their share of the line. */
const LEAST_WORDS = 3
const LEAST_SHARE = 0.25
/** Letters of a word that is no mere particle or name in code, and how many such words it has. */
const LONG_WORD = 3
const LEAST_LONG_WORDS = 2
/** Characters of a line that are read. */
const MOST_CHARS = 400
/** Letters that make a word in scripts that put no spaces between words. */
const LETTERS_OF_UNSPACED = 2
const UNSPACED_FROM = 0x2e80

const SPACE = 32
const STOPS = new Set([...'.,;:!?…'].map(stop => stop.charCodeAt(0)))

/**
 * Whether a line has a run of plain words, as programs that report something write them: words of
 * letters alone, with one space between them. No list of words is asked, so a failure counts in any
 * language. Linear, in one pass.
 */
export function isMessage(line: string): boolean {
  const end = Math.min(line.length, MOST_CHARS)
  const least = end * LEAST_SHARE
  let words = 0
  let longWords = 0
  let letters = 0
  for (let at = 0; at < end; ) {
    const start = at
    let unspaced = 0
    while (at < end && isLetter(line.charCodeAt(at))) {
      if (line.charCodeAt(at) >= UNSPACED_FROM) unspaced++
      at++
    }
    const length = at - start
    while (at < end && STOPS.has(line.charCodeAt(at))) at++
    const isWord = length > 0 && (at === end || line.charCodeAt(at) === SPACE)
    if (isWord) {
      const spoken = unspaced > 0 ? Math.floor(unspaced / LETTERS_OF_UNSPACED) : 1
      words += spoken
      if (length >= LONG_WORD || unspaced > 0) longWords += spoken
      letters += length + 1
      if (words >= LEAST_WORDS && longWords >= LEAST_LONG_WORDS && letters >= least) return true
      at++
      continue
    }
    words = 0
    longWords = 0
    letters = 0
    at = nextWord(line, at, end)
  }
  return false
}

/** The place after the next space. */
function nextWord(line: string, from: number, end: number): number {
  let at = from
  while (at < end && line.charCodeAt(at) !== SPACE) at++
  return at + 1
}

function isLetter(c: number): boolean {
  if (c < 128) return (c >= 97 && c <= 122) || (c >= 65 && c <= 90)
  return c >= 0xc0 && !isOtherSign(c)
}

/** Arrows, boxes, dingbats and full-width signs: no letters, although they are above ASCII. */
function isOtherSign(c: number): boolean {
  return (c >= 0x2000 && c < 0x2c00) || (c >= 0x3000 && c < 0x3041) || (c >= 0xff00 && c < 0xff21)
}
