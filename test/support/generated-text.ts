import type { Random } from '../../src/lab/bill/statistics.ts'
import { createXorshift } from './xorshift.ts'

/**
 * Text for measurements where no corpus is at hand, and text that is hard on tokenizers. Same seed,
 * same text.
 */

/** Picks one of the characters (code points). */
function oneOf(random: Random, characters: string): string {
  const points = [...characters]
  return points[random(points.length)]!
}

function repeated(chars: number, part: () => string): string {
  const parts: string[] = []
  for (let length = 0; length < chars; ) {
    const next = part()
    parts.push(next)
    length += next.length
  }
  return parts.join('').slice(0, chars).toWellFormed()
}

const SYLLABLES =
  'ac al an ar at con de ed en er es et ex file for get id in ing is ist log name on or pre re ro se st sys ta te ti time tion to un ur user val ve'.split(
    ' ',
  )

/**
 * What tools answer: JSON records, code, log lines, tables and prose in turn, with words by a power
 * law.
 */
export function generatedTexts(seed: number, count: number): string[] {
  const random = createXorshift(seed)
  const words = Array.from({ length: 4000 }, () =>
    Array.from({ length: 1 + random(4) }, () => SYLLABLES[random(SYLLABLES.length)]).join(''),
  )
  const word = (): string => words[Math.floor(words.length * (random(1e6) / 1e6) ** 3)]!
  const capital = (): string => word().replace(/^./, first => first.toUpperCase())
  const hex = (chars: number): string => repeated(chars, () => oneOf(random, '0123456789abcdef'))
  const line: readonly (() => string)[] = [
    () =>
      `{"id":${random(1e6)},"${word()}":"${capital()} ${word()}","${word()}_at":"2026-0${1 + random(9)}-1${random(9)}T0${random(9)}:${10 + random(49)}:00Z","tags":["${word()}","${word()}"],"ok":${random(2) === 0}}\n`,
    () =>
      `${'  '.repeat(random(5))}const ${word()}${capital()} = await ${word()}.${word()}(${word()}, '${word()}')\n`,
    () =>
      `2026-11-21T10:${10 + random(49)}:${10 + random(49)}.${random(999)}Z INFO [${word()}-${random(64)}] ${word()} ${word()} took=${random(900)}ms id=${hex(12)}\n`,
    () => `| ${capital()} ${word()} | ${random(1e5)} | ${word()} |\n`,
    () =>
      `${capital()} ${Array.from({ length: 12 }, word).join(' ')}; it's ${word()} — see /${word()}/${word()}.ts:${random(900)}.\n`,
  ]
  return Array.from({ length: count }, () => {
    const kind = line[random(line.length)]!
    return repeated(200 + random(8000), kind)
  })
}

/**
 * Inputs that make tokenizers slow, by name: each gives about `chars` UTF-16 units, different for
 * each seed.
 */
export const HOSTILE: Readonly<Record<string, (chars: number, random: Random) => string>> = {
  'one repeated letter': (chars, random) => oneOf(random, 'abcdefgh').repeat(chars),
  spaces: chars => ' '.repeat(chars),
  newlines: chars => '\n'.repeat(chars),
  'lines of spaces': (chars, random) => repeated(chars, () => `\n${' '.repeat(1 + random(200))}`),
  dashes: chars => '-'.repeat(chars),
  'CJK without spaces': (chars, random) =>
    repeated(chars, () => String.fromCharCode(0x4e00 + random(0x51a6))),
  'frequent CJK without spaces': (chars, random) =>
    repeated(chars, () => oneOf(random, '的一是不了人我在有他这中大来上国')),
  'random lower-case letters': (chars, random) =>
    repeated(chars, () => oneOf(random, 'abcdefghijklmnopqrstuvwxyz')),
  'random words of eight letters': (chars, random) =>
    repeated(chars, () => ` ${repeated(8, () => oneOf(random, 'abcdefghijklmnopqrstuvwxyz'))}`),
  base64: (chars, random) =>
    repeated(chars, () =>
      oneOf(random, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
    ),
  hex: (chars, random) => repeated(chars, () => oneOf(random, '0123456789abcdef')),
  'emoji with joiners': (chars, random) =>
    repeated(chars, () => `${oneOf(random, '👩👨👧👦🏽💻🚀🌍🧑')}\u200d`),
  'combining marks': (chars, random) =>
    repeated(chars, () => String.fromCharCode(0x300 + random(0x70))),
  symbols: (chars, random) => repeated(chars, () => oneOf(random, '!@#$%^&*()_+-=[]{}|;:,.<>?/~')),
  'one word of text': (chars, random) =>
    repeated(chars, () => SYLLABLES[random(SYLLABLES.length)]!),
}
