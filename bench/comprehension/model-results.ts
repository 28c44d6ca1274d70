import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { percent } from '../../src/console/table.ts'
import { markdownTable } from '../support/markdown-table.ts'

/** The answers to the questions about one data set in one format. */
export interface Row {
  readonly set: string
  readonly format: string
  readonly sent: boolean
  readonly tokens: number
  readonly right: number
  readonly asked: number
}

/** Raised when questions or data change, so that results of different ones are told apart. */
const QUESTIONS_VERSION = 2

/** What a model answered. */
interface ModelResults {
  readonly model: string
  readonly version: number
  readonly rows: readonly Row[]
}

const FOLDER = new URL('../results/comprehension/', import.meta.url)

/** Writes the file of a model. */
export function keepResults(model: string, rows: readonly Row[]): void {
  mkdirSync(FOLDER, { recursive: true })
  const results: ModelResults = { model, version: QUESTIONS_VERSION, rows }
  const name = `${model.replace(/[^\w.-]+/g, '-')}.json`
  writeFileSync(new URL(name, FOLDER), `${JSON.stringify(results, null, 1)}\n`)
}

/** For each model: JSON, TOON and ours over the sets that all three have. */
export function modelsTable(): string {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter(name => name.endsWith('.json')) : []
  const all = files.map(
    name => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as ModelResults,
  )
  return markdownTable(
    ['model', 'questions', 'format', 'tokens', 'right', 'asked', 'share', '95 % interval'],
    all.flatMap(({ model, version, rows }) => {
      const sets = new Set(rows.filter(({ format }) => format === 'toon').map(({ set }) => set))
      const ofSets = rows.filter(({ set }) => sets.has(set))
      return [
        ['JSON', ofSets.filter(({ format }) => format === 'json_compact')],
        ['TOON', ofSets.filter(({ format }) => format === 'toon')],
        ['ours', ofSets.filter(({ sent }) => sent)],
      ].map(([name, of]) => rowOf(model, version, name as string, of as readonly Row[]))
    }),
  )
}

function rowOf(model: string, version: number, name: string, rows: readonly Row[]) {
  const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0)
  const right = sum(row => row.right)
  const asked = sum(row => row.asked)
  const share = percent(right, asked)
  const interval = intervalText(shareInterval(right, asked))
  return [model, version, name, sum(row => row.tokens), right, asked, share, interval]
}

/** An interval in percent. */
export function intervalText(interval: Interval | null): string {
  if (interval === null) return '–'
  const [low, high] = [interval.low, interval.high].map(each => (each * 100).toFixed(1))
  return `${low} to ${high}`
}

/** 97.5 % of a normal distribution are below. */
const Z = 1.96

export interface Interval {
  readonly low: number
  readonly high: number
}

/** Wilson's 95 % interval of a share; `null` if nothing was asked. */
export function shareInterval(right: number, asked: number): Interval | null {
  if (asked === 0) return null
  const share = right / asked
  const scale = 1 + Z ** 2 / asked
  const middle = (share + Z ** 2 / (2 * asked)) / scale
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / asked + Z ** 2 / (4 * asked ** 2))
  return { low: middle - half, high: middle + half }
}

/**
 * The 95 % interval of a difference between two shares of the same questions (Agresti and Min,
 * 2005: half a question is added to each kind of pair).
 * @param more questions that only the first side fails at
 * @param fewer questions that only the second side fails at
 */
export function pairedInterval(more: number, fewer: number, asked: number): Interval {
  const [b, c, n] = [more + 0.5, fewer + 0.5, asked + 2]
  const middle = (b - c) / n
  const half = (Z / n) * Math.sqrt(b + c - (b - c) ** 2 / n)
  return { low: middle - half, high: middle + half }
}
