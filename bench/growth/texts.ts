import { generatedResults } from '../support/generated-results.ts'
import { createRandom, type Random } from '../support/random.ts'

/** Makes a tool result of about so many characters, the same each time. */
type MakeText = (chars: number) => string

const WORDS = 'queue build failed retry north amber river state merge timeout copper stone'.split(
  ' ',
)

function lines(line: (random: Random, number: number) => string): MakeText {
  return chars => {
    const random = createRandom(chars)
    const parts: string[] = []
    for (let length = 0; length < chars; ) {
      const next = line(random, parts.length)
      parts.push(next)
      length += next.length + 1
    }
    return parts.join('\n')
  }
}

const word = (random: Random) => WORDS[random(WORDS.length)]!
const two = (number: number) => String(number).padStart(2, '0')

const log = lines(
  (random, number) =>
    `2026-11-21T10:${two(((number / 60) % 60) | 0)}:${two(number % 60)}Z INFO [${word(random)}-${random(64)}] ${word(random)} ${word(random)} took=${random(900)}ms`,
)

const source = lines(
  random =>
    `${'  '.repeat(random(4))}const ${word(random)}${random(99)} = await ${word(random)}.${word(random)}(${random(999)}, '${word(random)}')`,
)

const prose = lines(random => `${Array.from({ length: 14 }, () => word(random)).join(' ')}.`)

/** Six shapes of results, by name. */
export const SHAPES: readonly { readonly name: string; readonly make: MakeText }[] = [
  ...generatedResults,
  { name: 'log', make: log },
  { name: 'source', make: source },
  { name: 'prose', make: prose },
]
