import { formatId } from '../../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../../src/core/formats/text/registry.ts'
import type { Construct } from '../../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import type { Random } from '../../../src/lab/bill/statistics.ts'
import type { Json } from '../../../test/support/plain-readers/json.ts'
import { readPlainly } from '../../../test/support/plain-readers/readers.ts'
import type { Answer } from '../data-sets.ts'
import { sameAnswer } from '../question.ts'

/** What a question asks for; exact answers of `copy` and `edit` count to the letter. */
export type Kind = 'value' | 'copy' | 'count' | 'filter' | 'absent' | 'edit' | 'behind' | 'changed'

const EXACT: readonly Kind[] = ['copy', 'edit']

/** A question about data, and how its answer follows from them. */
export interface Asked<Data> {
  readonly kind: Kind
  readonly text: string
  answer(data: Data): string
}

export interface PairQuestion {
  readonly kind: Kind
  readonly text: string
  readonly gold: string
  /** The answer of a reader who knows the grammar of the text with the construct. */
  plain(): string
}

/** The same data as a text with a construct and as one without. */
export interface Pair {
  readonly construct: Construct
  readonly seed: number
  readonly with: Answer
  readonly without: string
  readonly questions: readonly PairQuestion[]
}

/** What a pair is made of. */
export interface PairParts<Data> extends Pick<Pair, 'construct' | 'seed' | 'with' | 'without'> {
  readonly data: Data
  /** The data that a plain reading of the text with the construct gives. */
  read(reading: Json): Data
  readonly questions: readonly Asked<Data>[]
}

export function createPair<Data>(parts: PairParts<Data>): Pair {
  const { construct, seed, data, without, questions } = parts
  const { format, content } = parts.with
  return {
    construct,
    seed,
    with: parts.with,
    without,
    questions: questions.map(({ kind, text, answer }) => ({
      kind,
      text,
      gold: answer(data),
      plain: () => answer(parts.read(readPlainly(format, content))),
    })),
  }
}

/** Whether an answer is right: to the letter where something was to be copied. */
export function isRight({ kind, gold }: PairQuestion, given: string): boolean {
  if (!EXACT.includes(kind)) return sameAnswer(given, gold)
  return given.trim().replace(/^(["'`])(.*)\1$/s, '$2') === gold
}

/** What to answer about what is not there. */
export const NOT_THERE = 'not in the data'

/** Rows or lines of a text; most are short, so that a run takes fewer tokens. */
const SIZES = [20, 24, 30, 40, 60, 90, 160, 400] as const

export function sizeOf(seed: number): number {
  return SIZES[seed % SIZES.length]!
}

export function pick<T>(random: Random, all: readonly T[]): T {
  return all[random(all.length)]!
}

/** So many different texts. */
export function distinct(count: number, make: () => string): readonly string[] {
  const all = new Set<string>()
  while (all.size < count) all.add(make())
  return [...all]
}

export const WORDS =
  'amber basil cedar delta ember fjord grove heath inlet juniper kelp larch'.split(' ')
export const VERBS = ['open', 'read', 'write', 'close', 'flush', 'seek']

/** A text in the format of this name, whatever it saves. */
export function writtenIn(id: string, text: string, counter: TokenCounter): Answer {
  const format = TEXT_FORMATS.find(each => each.id === id)
  if (format === undefined) throw new Error(`there is no format ${id}`)
  const [written] = format.encode(text, { counter, formats: JSON_FORMATS })
  if (written === undefined) throw new Error(`${id} declines: ${text.slice(0, 60)}`)
  const { style, content } = written
  return { format: style === '' ? formatId(format) : `${formatId(format)};${style}`, content }
}
