import type { Json } from '../../test/support/plain-readers/json.ts'

/** A question that a reader answers from a text, and how the answer follows from the data. */
export interface Question {
  readonly kind: 'retrieval' | 'aggregation' | 'filtering' | 'structure'
  readonly text: string
  /** The gold answer; several are given in any order. */
  answer(data: Json): string
}

type Rows = readonly Record<string, Json>[]
export type Members = Record<string, Json>

export const rowsOf = (data: Json) => data as unknown as Rows
export const members = (data: Json | undefined) => data as unknown as Members
export const at = (data: Json, ...path: readonly (string | number)[]): Json =>
  path.reduce<Json>((inner, step) => (inner as unknown as Members)[step] ?? null, data)
export const list = (values: readonly (Json | undefined)[]) => values.map(String).join(', ')
export const sum = (values: readonly (Json | undefined)[]) =>
  values.reduce<number>((total, value) => total + Number(value), 0)
export const money = (value: number) => value.toFixed(2)

export const retrieval = (text: string, answer: Question['answer']): Question => ({
  kind: 'retrieval',
  text,
  answer,
})
export const aggregation = (text: string, answer: Question['answer']): Question => ({
  kind: 'aggregation',
  text,
  answer,
})
export const filtering = (text: string, answer: Question['answer']): Question => ({
  kind: 'filtering',
  text,
  answer,
})
export const structure = (text: string, answer: Question['answer']): Question => ({
  kind: 'structure',
  text,
  answer,
})

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
