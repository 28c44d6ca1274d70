import { createRandom } from '../../src/lab/bill/statistics.ts'
import { generatedResults } from '../support/generated-results.ts'
import { markdownTable } from '../support/markdown-table.ts'

/** What one thing costs as another grows. */
export interface Curve {
  readonly name: string
  /** What grows. */
  readonly by: string
  /** The steepest slope that it may have, log–log: 1 is linear, 0 is flat. */
  readonly goal: number
  readonly points: readonly Point[]
}

/** How much there is, and what it costs, in nanoseconds or bytes. */
export type Point = readonly [amount: number, cost: number]

/** The slope of the straight line through the points, log–log, by least squares. */
export function slopeOf(points: readonly Point[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const)
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length
  let above = 0
  let below = 0
  for (const [x, y] of logs) {
    above += (x - meanX) * (y - meanY)
    below += (x - meanX) ** 2
  }
  return above / below
}

/** A row for each curve of two points or more: its ends, its slope, and whether it is too steep. */
export function tableOfCurves(curves: readonly Curve[], costOf: (cost: number) => string): string {
  const drawn = curves.filter(({ points }) => points.length > 1)
  const rows = drawn.map(({ name, by, goal, points }) => {
    const [first, last] = [points[0]!, points.at(-1)!]
    const slope = slopeOf(points)
    return [
      ...[name, by, first[0], last[0], costOf(first[1]), costOf(last[1])],
      ...[slope.toFixed(2), `≤ ${goal}`, slope <= goal ? '' : '**steeper**'],
    ]
  })
  return markdownTable(['', 'by', 'from', 'to', 'cost', 'cost', 'slope', 'goal', ''], rows)
}

/** Processor time of this process so far, its threads included, in nanoseconds. */
function processorNs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** Processor time that a figure rests on, at least, in nanoseconds; and when no round follows. */
const LEAST_NS = 60e6
const MOST_NS = 2e9
const ROUNDS = 3

/**
 * Nanoseconds of processor time of one call: the least of some rounds, which other work on the
 * machine disturbs least. Each round has as many calls as make a figure.
 */
export async function costOf(call: (i: number) => unknown): Promise<number> {
  let calls = 0
  let best = Number.POSITIVE_INFINITY
  // The first round warms the code up.
  const begun = processorNs()
  for (let round = 0; round <= ROUNDS; round++) {
    if (round > 1 && processorNs() - begun > MOST_NS) break
    const started = processorNs()
    let spent = 0
    let count = 0
    do {
      await call(calls++)
      count++
      spent = processorNs() - started
    } while (spent < LEAST_NS)
    if (round > 0) best = Math.min(best, spent / count)
  }
  return best
}

const WORDS = 'queue build failed retry north amber river state merge timeout copper stone'.split(
  ' ',
)

/** A log of about so many characters, the same each time. */
function log(chars: number): string {
  const random = createRandom(chars)
  const word = () => WORDS[random(WORDS.length)]!
  const two = (number: number) => String(number).padStart(2, '0')
  const lines: string[] = []
  for (let length = 0, n = 0; length < chars; n++) {
    const time = `2026-11-21T10:${two(((n / 60) % 60) | 0)}:${two(n % 60)}Z`
    const next = `${time} INFO [${word()}-${random(64)}] ${word()} ${word()} took=${random(900)}ms`
    lines.push(next)
    length += next.length + 1
  }
  return lines.join('\n')
}

/** Four shapes of results, by name. */
export const SHAPES = [...generatedResults, { name: 'log', make: log }]
