import { createXorshift } from '../support/random.ts'

/** An earlier text and a later one that repeats most of it. */
export interface TextPair {
  readonly earlier: string
  readonly later: string
}

interface NamedTexts {
  readonly name: string
  make(bytes: number): TextPair
}

const WORDS = [
  'if',
  'err',
  '!=',
  'nil',
  'return',
  'const',
  'value',
  '=',
  'await',
  'load(path)',
  '{',
  '}',
]
const CHANGED_EVERY = 50

/** Numbered code first, as files are read; then what should be hard to match in linear time. */
export const HOSTILE_TEXTS: readonly NamedTexts[] = [
  { name: 'numbered code, every fiftieth line new', make: bytes => edited(numberedCode(bytes)) },
  { name: 'code moved by one line', make: bytes => moved(numberedCode(bytes)) },
  repeated('one line, again and again', bytes => 'the same line\n'.repeat(bytes / 14)),
  repeated('two lines in turn', bytes => 'the first line\nthe second line\n'.repeat(bytes / 31)),
  repeated('empty lines', bytes => '\n'.repeat(bytes)),
  repeated('255 spaces a line', bytes => `${' '.repeat(255)}\n`.repeat(bytes / 256)),
  repeated('no line feed', bytes => 'x'.repeat(bytes)),
  repeated('four long lines', bytes => `${'y'.repeat(bytes / 4 - 1)}\n`.repeat(4)),
  repeated('lines without a name', bytes => {
    const numbered = Array.from({ length: bytes / 20 }, (_, i) => `${i + 1}:x\n`).join('')
    return numbered + 'not numbered\n'.repeat((bytes - numbered.length) / 13)
  }),
]

/** The later text differs in the middle only. */
function repeated(name: string, write: (bytes: number) => string): NamedTexts {
  return {
    name,
    make(bytes) {
      const earlier = write(bytes)
      const middle = earlier.length >> 1
      return { earlier, later: `${earlier.slice(0, middle)}\nnew\n${earlier.slice(middle)}` }
    },
  }
}

function numberedCode(bytes: number): string[] {
  const random = createXorshift(8)
  const lines: string[] = []
  for (let length = 0; length < bytes; length += (lines.at(-1) ?? '').length + 8) {
    const words = Array.from({ length: 1 + random(8) }, () => WORDS[random(WORDS.length)])
    lines.push('\t'.repeat(random(4)) + words.join(' '))
  }
  return lines
}

function edited(lines: readonly string[]): TextPair {
  const later = lines.map((line, i) => (i % CHANGED_EVERY === 0 ? `// new ${i}` : line))
  return { earlier: withNumbers(lines), later: withNumbers(later) }
}

function moved(lines: readonly string[]): TextPair {
  return { earlier: withNumbers(lines), later: withNumbers(['// new', ...lines]) }
}

function withNumbers(lines: readonly string[]): string {
  return lines.map((line, i) => `${String(i + 1).padStart(6)}→${line}\n`).join('')
}
