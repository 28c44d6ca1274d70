/** Times of one kind of call, and what follows from them. */
export interface Timed {
  readonly ms: readonly number[]
  readonly total_ms: number
}

/** Runs `count` calls, `lanes` at a time, and takes the time of each. */
export async function timed(
  count: number,
  lanes: number,
  call: (i: number) => Promise<unknown>,
): Promise<Timed> {
  const ms: number[] = []
  let next = 0
  const started = performance.now()
  const lane = async () => {
    while (next < count) {
      const i = next++
      const from = performance.now()
      await call(i)
      ms.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return { ms, total_ms: performance.now() - started }
}

export function quantile(ms: readonly number[], q: number): number {
  const sorted = [...ms].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

/** Several runs as one. */
export function merge(runs: readonly Timed[]): Timed {
  return {
    ms: runs.flatMap(({ ms }) => ms),
    total_ms: runs.reduce((sum, { total_ms }) => sum + total_ms, 0),
  }
}

/** A Markdown table; numbers to two figures after the point at most. */
export function markdown(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cell = (value: string | number) =>
    typeof value === 'string'
      ? value
      : value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 2 : 0 })
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [header, header.map(() => '---'), ...rows.map(row => row.map(cell))].map(line).join('\n')
}
