import { CONSTRUCTS, type Construct } from '../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import { createRandom, type Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { readDiff } from '../../test/support/plain-readers/plain-texts.ts'
import { readPlainly } from '../../test/support/plain-readers/readers.ts'
import { goldOf, type Question, sameAnswer } from './data-set.ts'
import { jsonLinesPair, markdownPair, roomsPair, rowsPair } from './entry-pairs.ts'
import { LINES } from './line-kinds.ts'
import { distinct, type Made, type Pair, type PairQuestion, type Terms, writtenIn } from './pair.ts'
import {
  having,
  IF_ABSENT,
  linesOf,
  NOT_THERE,
  numbered,
  pick,
  rowsOf,
  times,
  VERBS,
  WORDS,
} from './reading.ts'
import { readings, sessions } from './session-sets.ts'

/** Pairs of each construct, at least. */
export const FEWEST_PAIRS = 40

/** Whether an answer is right: to the letter where something was to be copied. */
export function isRight({ isExact, gold }: PairQuestion, given: string): boolean {
  if (!isExact) return sameAnswer(given, gold)
  return given.trim().replace(/^(["'`])(.*)\1$/s, '$2') === gold.trim()
}

/** Rows or lines of a text; most are short, so that a run takes fewer tokens. */
const SIZES = [20, 24, 30, 40, 60, 90, 160, 400] as const

/** The pairs of every construct, the same in every run. */
export function allPairs(count: number, counter: TokenCounter): readonly Pair[] {
  return CONSTRUCTS.flatMap(construct => pairsOf(construct, count, counter))
}

export function pairsOf(construct: Construct, count: number, counter: TokenCounter): Pair[] {
  return times(count, number => {
    const seed = 1000 + number
    const random = createRandom(seed)
    const size = SIZES[seed % SIZES.length]!
    const {
      data,
      read = reading => reading,
      ask,
      ...texts
    } = MAKERS[construct]({ construct, seed, size, random, counter })
    const { format, content } = texts.with
    return {
      ...{ construct, seed, ...texts },
      questions: ask().map(question => ({
        text: question[0],
        gold: goldOf(question, data),
        isExact: question[2] === true,
        plain: () => goldOf(question, read(readPlainly(format, content))),
      })),
    }
  })
}

/** Lines that are read as they stand, or that a reader sees without their escape sequences. */
function linesPair({ construct, size, random, counter }: Terms): Made {
  const { format, make, seen = line => line, counted } = LINES[construct]!
  const ids = distinct(size, random)
  const lines = make(ids, random)
  const without = lines.join('\n')
  const index = (d: Json, id: string) => linesOf(d).findIndex(line => line.includes(id))
  const ask = (): readonly Question[] => {
    const [one, other] = [pick(random, ids), pick(random, ids)]
    const part = counted ?? pick(random, WORDS)
    return [
      [
        `Copy the whole line that contains ${one}, exactly, with everything that belongs to it.`,
        d => linesOf(d)[index(d, one)],
        true,
      ],
      [
        `How many lines contain ${part}?`,
        d => linesOf(d).filter(line => line.includes(part)).length,
      ],
      [
        `Which line comes right before the one with ${other}? ${IF_ABSENT}`,
        d => linesOf(d)[index(d, other) - 1] ?? NOT_THERE,
      ],
    ]
  }
  return { data: lines.map(seen), with: writtenIn(format, without, counter), without, ask }
}

/** Questions about lines with numbers; in a diff they are those of the new file. */
function aboutNumbered(data: Json, random: Random): readonly Question[] {
  const all = rowsOf(data)
  const added = having(all, 'sign', '+')
  const isDiff = added.length > 0
  const [one, other] = [pick(random, isDiff ? added : all), pick(random, all)]
  const verb = pick(random, VERBS)
  return [
    [
      `On which line is ${String(one['text']).trim()} now? Give its number.`,
      d => having(rowsOf(d), 'text', one['text']!)[0]?.['line'],
      true,
    ],
    [
      `How many lines contain ${verb}(?`,
      d => rowsOf(d).filter(({ text }) => String(text).includes(`${verb}(`)).length,
    ],
    isDiff
      ? ['How many lines are removed in all?', d => having(rowsOf(d), 'sign', '-').length]
      : [
          `Copy line ${other['line']}, as it is now, without its number.`,
          d => String(having(rowsOf(d), 'line', other['line']!)[0]?.['text']).trim(),
          true,
        ],
  ]
}

const located = (lines: readonly string[], first = 1) =>
  lines.map((text, index) => ({ line: first + index, text }))

/** A file with a number before each line. */
function numberedPair({ size, random, counter }: Terms): Made {
  const first = 11 + random(900)
  const lines = distinct(size, random).map(id => {
    return `  ${pick(random, VERBS)}(${pick(random, WORDS)}, ${id})`
  })
  const [data, without] = [located(lines, first), numbered(lines, first)]
  return {
    data,
    with: writtenIn('numbered', without, counter),
    without,
    ask: () => aboutNumbered(data, random),
  }
}

/** A diff of git with several files. */
function diffPair({ size, random, counter }: Terms): Made {
  const ids = [...distinct(size + 12, random)]
  const hash = () => (0x1000000 + random(0xeffffff)).toString(16).slice(0, 7)
  const lines: string[] = []
  while (ids.length > 12) {
    const path = `src/${pick(random, WORDS)}/${pick(random, WORDS)}-${random(99)}.ts`
    lines.push(`diff --git a/${path} b/${path}`, `index ${hash()}..${hash()} 100644`)
    lines.push(`--- a/${path}`, `+++ b/${path}`)
    const start = 10 + random(400)
    lines.push(`@@ -${start},6 +${start},7 @@ function ${pick(random, WORDS)}() {`)
    for (const sign of '   -++  ') {
      lines.push(`${sign}  ${pick(random, VERBS)}(queue, ${ids.pop()})`)
    }
  }
  const without = `${lines.join('\n')}\n`
  const data = readDiff(without)
  return {
    data,
    with: writtenIn('diff', without, counter),
    without,
    ask: () => aboutNumbered(data, random),
  }
}

/** A file that is read again after changes: with references to the first reading, or whole. */
const referencePair =
  /** @param run lines between two changed ones, and so the lines of each reference */
    (run: number) =>
    ({ construct, seed, size, random }: Terms): Made => {
      const count = Math.max(size, 3 * (run + 1))
      const ids = distinct(2 * count, random)
      const code = (id: string) =>
        `export const step${id} = ${pick(random, VERBS)}(buffer, ${id}, "wait", ${random(9)})`
      const before = ids.slice(0, count).map(code)
      const after = before.map((text, line) =>
        line % (run + 1) === run ? code(ids[count + line]!) : text,
      )
      const call = {
        session: `s${construct}${seed}`,
        tool: 'Read',
        args: { file_path: 'src/a.ts' },
      }
      const local = sessions()
      const [first, second] = [before, after].map(lines =>
        local.encode({ ...call, content: numbered(lines), reading: 'dense' }),
      )
      const data = located(after)
      return {
        data,
        with: { format: second!.format, content: readings(first!.content, second!.content) },
        without: readings(first!.content, numbered(after)),
        ask: () => aboutNumbered(data, random),
      }
    }

export const MAKERS: Readonly<Record<Construct, (terms: Terms) => Made>> = {
  numbered: numberedPair,
  times: linesPair,
  text_form: markdownPair,
  git_headers: diffPair,
  heading: linesPair,
  indented_heading: linesPair,
  template: linesPair,
  template_switch: linesPair,
  sign: linesPair,
  json_lines: jsonLinesPair,
  reference: referencePair(12),
  short_reference: referencePair(4),
  tiny_reference: referencePair(2),
  affix: rowsPair,
  affix_number: rowsPair,
  shape: roomsPair,
  table: rowsPair,
  brackets: roomsPair,
}
