import type { Construct } from '../../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { readDiff } from '../../../test/support/plain-readers/plain-texts.ts'
import { LINE_PAIRS } from './line-pairs.ts'
import { createPair, distinct, type Pair, pick, sizeOf, VERBS, WORDS, writtenIn } from './pair.ts'

interface Numbered {
  readonly line: number
  readonly text: string
}

/** A file with a number before each line. */
function numberedPair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const first = 11 + random(900)
  const sums = distinct(sizeOf(seed), () => String(10_000 + random(90_000)))
  const data = sums.map((sum, at) => ({
    line: first + at,
    text: `  ${pick(random, VERBS)}(${pick(random, WORDS)}, ${sum})`,
  }))
  const without = data.map(({ line, text }) => `${String(line).padStart(6)}→${text}`).join('\n')
  const [one, other] = [pick(random, data), pick(random, data)]
  const verb = pick(random, VERBS)
  const find = (lines: readonly Numbered[], at: number) =>
    lines.find(({ line }) => line === at)?.text.trim() ?? ''
  return createPair<readonly Numbered[]>({
    construct: 'numbered',
    seed,
    data,
    with: writtenIn('numbered', without, counter),
    without,
    read: reading => reading as unknown as readonly Numbered[],
    questions: [
      {
        kind: 'edit',
        text: `Which line must be edited to change ${one.text.trim()}? Give its number.`,
        answer: lines => String(lines.find(({ text }) => text === one.text)?.line),
      },
      {
        kind: 'copy',
        text: `Copy line ${other.line} without its number.`,
        answer: lines => find(lines, other.line),
      },
      {
        kind: 'count',
        text: `How many lines call ${verb}?`,
        answer: lines => String(lines.filter(({ text }) => text.includes(`${verb}(`)).length),
      },
    ],
  })
}

/** A padded table of Markdown, and the same without padding. */
function tablePair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const ids = distinct(sizeOf(seed), () => `k${random(90_000)}`)
  const rows = ids.map(id => ({
    id,
    word: pick(random, WORDS),
    size: String(random(900)),
    verb: pick(random, VERBS),
  }))
  const names = ['id', 'word', 'size', 'verb'] as const
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.padEnd(9)).join(' | ')} |`
  const rule = `| ${names.map(() => '-'.repeat(9)).join(' | ')} |`
  const without = [line(names), rule, ...rows.map(row => line(names.map(name => row[name])))]
  const [one, word] = [pick(random, rows), pick(random, WORDS)]
  type Rows = readonly Readonly<Record<string, string>>[]
  return createPair<Rows>({
    construct: 'text_form',
    seed,
    data: rows,
    with: writtenIn('md', without.join('\n'), counter),
    without: without.join('\n'),
    read: reading => (reading as unknown as readonly Rows[])[0] ?? [],
    questions: [
      {
        kind: 'value',
        text: `What is the size of ${one.id}?`,
        answer: all => all.find(({ id }) => id === one.id)?.['size'] ?? '',
      },
      {
        kind: 'count',
        text: `How many rows have the word ${word}?`,
        answer: all => String(all.filter(row => row['word'] === word).length),
      },
    ],
  })
}

interface DiffLine extends Numbered {
  readonly sign: string
}

/** A diff of git with several files. */
function diffPair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const sums = [...distinct(sizeOf(seed) + 12, () => String(10_000 + random(90_000)))]
  const call = (sign: string) => `${sign}  ${pick(random, VERBS)}(queue, ${sums.pop()})`
  const lines: string[] = []
  const hash = () => (0x1000000 + random(0xeffffff)).toString(16).slice(0, 7)
  while (sums.length > 12) {
    const path = `src/${pick(random, WORDS)}/${pick(random, WORDS)}-${random(99)}.ts`
    lines.push(`diff --git a/${path} b/${path}`, `index ${hash()}..${hash()} 100644`)
    lines.push(`--- a/${path}`, `+++ b/${path}`)
    const start = 10 + random(400)
    lines.push(`@@ -${start},6 +${start},7 @@ function ${pick(random, WORDS)}() {`)
    for (const sign of '   -++  ') lines.push(call(sign))
  }
  const without = `${lines.join('\n')}\n`
  const data = readDiff(without) as unknown as readonly DiffLine[]
  const added = data.filter(({ sign }) => sign === '+')
  const one = pick(random, added)
  return createPair<readonly DiffLine[]>({
    construct: 'git_headers',
    seed,
    data,
    with: writtenIn('diff', without, counter),
    without,
    read: reading => reading as unknown as readonly DiffLine[],
    questions: [
      {
        kind: 'edit',
        text: `On which line of the new file is the added ${one.text.trim()}? Give its number.`,
        answer: all => String(all.find(({ text }) => text === one.text)?.line),
      },
      {
        kind: 'count',
        text: 'How many lines are removed in all?',
        answer: all => String(all.filter(({ sign }) => sign === '-').length),
      },
    ],
  })
}

/** Pairs of the constructs of plain text, by their seed. */
export const TEXT_PAIRS: Readonly<
  Partial<Record<Construct, (seed: number, counter: TokenCounter) => Pair>>
> = {
  ...LINE_PAIRS,
  numbered: numberedPair,
  text_form: tablePair,
  git_headers: diffPair,
}
