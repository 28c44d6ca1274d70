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
