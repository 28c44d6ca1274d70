import { createRandom } from '../support/random.ts'

/**
 * Failures in words that no list of the service has. What is planted is known, so the judge needs no
 * words of its own to find it again.
 */
const PHRASES = [
  'gave up its lease on',
  'went offline while it served',
  'ran out of room for',
  'does not respond to',
  'lost quorum of',
  'fell behind by too much on',
  'has no route to',
  'broke down at',
]
const SYLLABLES = 'ba ke li mo nu pra sto tri vel wex yon zur'.split(' ')
/** Characters at the start of a line that a planted line has too: its time. */
const TIME_CHARS = 24
const PLANTED = 5

/** A log with lines that occur once. */
export interface Planted {
  readonly text: string
  readonly lines: readonly string[]
}

/** Puts a few lines into a log, each in words of its own, after the time of the line before it. */
export function plant(text: string, seed: number): Planted {
  const random = createRandom(seed)
  const lines = text.split('\n')
  const planted: string[] = []
  for (let i = 0; i < PLANTED; i++) {
    const at = 5 + random(Math.max(1, lines.length - 12))
    const name = Array.from({ length: 4 }, () => SYLLABLES[random(SYLLABLES.length)]).join('')
    const time =
      /^[\W\d]*(?:[A-Z][a-z]{2} +[\d :]+)?[\d:.,TZ+-]* ?/.exec(lines[at] ?? '')?.[0] ?? ''
    const line = `${time.slice(0, TIME_CHARS)}${name} ${PHRASES[random(PHRASES.length)]} ${name}`
    lines.splice(at + 1, 0, line)
    planted.push(line)
  }
  return { text: lines.join('\n'), lines: planted }
}

/** Letters of a line, in words of three or more; lines with the same ones are one failure. */
export function skeletonOf(line: string): string {
  return (line.match(/\p{L}{3,}/gu) ?? []).join(' ').toLowerCase()
}
