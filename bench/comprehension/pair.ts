import { formatId } from '../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../src/core/formats/text/registry.ts'
import type { Construct } from '../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { Answer, Question } from './data-set.ts'

/** The same data as a text with a construct and as one without. */
export interface Pair {
  readonly construct: Construct
  readonly seed: number
  readonly with: Answer
  readonly without: string
  readonly questions: readonly PairQuestion[]
}

export interface PairQuestion {
  readonly text: string
  readonly gold: string
  /** Whether an answer counts to the letter. */
  readonly isExact: boolean
  /** The answer of a reader who knows the grammar of the text with the construct. */
  plain(): string
}

/** What a pair is made from. */
export interface Terms {
  readonly construct: Construct
  readonly seed: number
  readonly size: number
  readonly random: Random
  readonly counter: TokenCounter
}

export interface Made extends Pick<Pair, 'with' | 'without'> {
  readonly data: Json
  /** The data that a plain reading of the text with the construct gives. */
  read?(reading: Json): Json
  /** Some questions; other ones each time. */
  ask(): readonly Question[]
}

/** So many different numbers of five digits. */
export function distinct(count: number, random: Random): readonly string[] {
  const all = new Set<string>()
  while (all.size < count) all.add(String(10_000 + random(90_000)))
  return [...all]
}

export const keys = (count: number, random: Random) =>
  distinct(count, random).map(each => `k${each}`)

/** A text in the format of this name, whatever it saves. */
export function writtenIn(id: string, text: string, counter: TokenCounter): Answer {
  const format = TEXT_FORMATS.find(each => each.id === id)
  const [written] = format?.encode(text, { counter, formats: JSON_FORMATS }) ?? []
  if (written === undefined) throw new Error(`${id} declines: ${text.slice(0, 60)}`)
  const { style, content } = written
  return { format: style === '' ? formatId(format!) : `${formatId(format!)};${style}`, content }
}
