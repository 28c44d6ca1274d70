import type { Construct } from '../../../src/core/reading/constructs.ts'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { createLocalContext } from '../../../src/library/local-context.ts'
import { createLocalSessions } from '../../../src/library/local-sessions.ts'
import { createPair, distinct, type Pair, pick, sizeOf } from './pair.ts'

/** Lines that stand between two changed ones, and so the lines of each reference. */
const RUN: Readonly<Partial<Record<Construct, number>>> = {
  reference: 12,
  short_reference: 4,
  tiny_reference: 2,
}

const context = createLocalContext()

interface Line {
  readonly line: number
  readonly text: string
}

/** A file that is read again after changes: with references to the first reading, or whole. */
export function referencePair(construct: Construct, seed: number): Pair {
  const random = createRandom(seed)
  const run = RUN[construct]!
  const size = Math.max(sizeOf(seed), 3 * (run + 1))
  const sums = distinct(2 * size, () => String(10_000 + random(90_000)))
  const code = (sum: string) =>
    `export const step${sum} = open(buffer, ${sum}, "wait", ${random(9)})`
  const before = sums.slice(0, size).map(code)
  const after = before.map((text, at) => (at % (run + 1) === run ? code(sums[size + at]!) : text))
  const data = after.map((text, at) => ({ line: at + 1, text }))
  const call = { session: `s${construct}${seed}`, tool: 'Read', args: { file_path: 'src/a.ts' } }
  const local = createLocalSessions(context, { bodyBytes: 1 << 20 })
  const [first, second] = [before, after].map(lines =>
    local.encode({ ...call, content: numbered(lines), reading: 'dense' }),
  )
  const results = (one: string, two: string) =>
    `Result 1 of Read:\n${one}\nResult 2 of Read:\n${two}`
  const kept = pick(
    random,
    data.filter(({ line }) => line % (run + 1) !== 0),
  )
  const changed = pick(
    random,
    data.filter(({ line }) => line % (run + 1) === 0),
  )
  return createPair<readonly Line[]>({
    construct,
    seed,
    data,
    with: { format: second!.format, content: results(first!.content, second!.content) },
    without: results(first!.content, numbered(after)),
    read: reading => reading as unknown as readonly Line[],
    questions: [
      {
        kind: 'behind',
        text: `What is line ${kept.line} of the file now? Give its last number in parentheses.`,
        answer: lines => lastNumber(lines[kept.line - 1]),
      },
      {
        kind: 'edit',
        text: `On which line is ${kept.text.split(' ')[2]} now? Give the number of the line.`,
        answer: lines => String(lines.find(({ text }) => text === kept.text)?.line),
      },
      {
        kind: 'changed',
        text: 'How many lines differ between the two results?',
        answer: lines => String(lines.filter(({ text }, at) => text !== before[at]).length),
      },
      {
        kind: 'copy',
        text: `Copy line ${changed.line} of the second result without its number.`,
        answer: lines => lines[changed.line - 1]?.text ?? '',
      },
    ],
  })
}

const lastNumber = (line: Line | undefined) => /(\d+)\)$/.exec(line?.text ?? '')?.[1] ?? ''

function numbered(lines: readonly string[]): string {
  return lines.map((text, index) => `${String(index + 1).padStart(6)}→${text}`).join('\n')
}
