import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'

/** What questions and data sets have in common: looks into data, and random choices. */
export type Row = Readonly<Record<string, Json>>

/** What to answer about what is not there. */
export const NOT_THERE = 'not in the data'
export const IF_ABSENT = `Say "${NOT_THERE}" if it is not there.`

export const WORDS: readonly string[] =
  'amber basil cedar delta ember fjord grove heath inlet juniper kelp larch'.split(' ')
export const VERBS: readonly string[] = ['open', 'read', 'write', 'close', 'flush', 'seek']

export const rowsOf = (data: Json | undefined) => data as unknown as readonly Row[]
export const linesOf = (data: Json) => data as readonly string[]
export const members = (data: Json | undefined) => data as unknown as Row
export const at = (data: Json | undefined, ...path: readonly (string | number)[]): Json =>
  path.reduce<Json>((inner, step) => members(inner)[step] ?? null, data!)
export const column = (rows: readonly Row[], name: string) => rows.map(row => row[name])
export const sum = (values: readonly (Json | undefined)[]) =>
  values.reduce<number>((total, value) => total + Number(value), 0)
export const most = (values: readonly (Json | undefined)[]) => Math.max(...values.map(Number))
/** The rows with this value. */
export const having = (rows: readonly Row[], name: string, value: Json) =>
  rows.filter(row => row[name] === value)

/** What a member says: a value, an empty string, or that it is not there. */
export function saidOf(value: Json | undefined): string {
  if (value === undefined) return NOT_THERE
  return value === '' ? 'empty' : String(value)
}

export function pick<T>(random: Random, all: readonly T[]): T {
  return all[random(all.length)]!
}

export function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

/** Lines as an editor shows them, with a number before each. */
export function numbered(lines: readonly string[], first = 1): string {
  return lines.map((text, at) => `${String(first + at).padStart(6)}→${text}`).join('\n')
}
