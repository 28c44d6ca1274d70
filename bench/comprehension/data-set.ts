import { encode } from '../../src/index.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'

/**
 * A question, and what answers it from the data; several values are a list in any order. Whether an
 * answer counts to the letter.
 */
export type Question = readonly [text: string, answer: (data: Json) => unknown, isExact?: boolean]

export interface DataSet {
  readonly name: string
  /** What the questions are about; of a text, what a reader finds in it. */
  readonly data: Json
  /** The tool result where it is a text of its own; else it is the data as JSON. */
  readonly text?: string
  /** Formats that are asked for; absent: what `encode` chooses. */
  readonly formats?: readonly string[]
  /** What is sent, if more than the result decides that; else what `encode` answers. */
  readonly answer?: () => Answer
  readonly questions: readonly Question[]
}

/** What is sent for a result. */
export interface Answer {
  readonly format: string
  readonly content: string
}

/** What is sent for the data. */
export function sentOf({ data, text, formats, answer }: DataSet): Answer {
  const content = text ?? JSON.stringify(data, null, 2)
  return answer?.() ?? encode({ content, ...(formats && { formats: [...formats] }) })
}

export function goldOf([, answer]: Question, data: Json): string {
  const found = answer(data)
  return Array.isArray(found) ? found.join(', ') : String(found)
}

/**
 * Whether an answer says the same as the gold one: case, order of a list and quotes do not matter.
 */
export function sameAnswer(given: string, gold: string): boolean {
  return normalized(given) === normalized(gold)
}

function normalized(answer: string): string {
  const plain = answer
    .trim()
    .replace(/[`*"'[\]]/g, '')
    .replace(/\.$/, '')
  return plain
    .split(',')
    .map(part => part.trim().toLowerCase())
    .sort()
    .join(',')
}
