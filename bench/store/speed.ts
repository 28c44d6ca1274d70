import { join } from 'node:path'
import { median } from '../../src/bill/statistics.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile } from '../support/statistics.ts'
import { files, haversack, installLmdb, lmdb, type Rival } from './rivals.ts'
import { noise, prose, timed } from './timed.ts'

const LANES = [1, 32]
const ROUNDS = 5

/** Puts and gets of new bodies, all rivals in turn in each round; medians over the rounds. */
export async function speed(folder: string): Promise<string> {
  const rivals: Rival[] = [
    await haversack(join(folder, 'speed-zstd'), true),
    await haversack(join(folder, 'speed-plain'), false),
    await files(join(folder, 'speed-files')),
    ...(await rivalLmdb(folder)),
  ]
  const rows: (string | number)[][] = []
  for (const [what, size, count] of [
    ['text', 4096, 800],
    ['text', 65_536, 200],
    ['noise', 65_536, 200],
  ] as const) {
    for (const lanes of LANES) {
      const results = rivals.map(() => ({ puts: [] as number[][], gets: [] as number[][] }))
      for (let round = 0; round < ROUNDS; round++) {
        const seed = `${size} ${lanes} ${round}`
        const bodies = Array.from({ length: count }, (_, i) =>
          what === 'text' ? prose(size, `${seed} ${i}`) : noise(size, `${seed} ${i}`),
        )
        for (const [at, rival] of rivals.entries()) {
          const refs: string[] = []
          const put = await timed(count, lanes, async i => {
            refs[i] = await rival.put(bodies[i]!)
          })
          const get = await timed(count, lanes, i => rival.get(refs[(i * 7919) % count]!))
          const line = ({ ms, total_ms }: typeof put) => [
            count / (total_ms / 1000),
            percentile(ms, 0.5),
            percentile(ms, 0.99),
          ]
          results[at]!.puts.push(line(put))
          results[at]!.gets.push(line(get))
        }
      }
      for (const [at, { puts, gets }] of results.entries()) {
        const middle = (runs: number[][]) => [0, 1, 2].map(i => median(runs.map(run => run[i]!)))
        const label = `${what} ${size / 1024} KiB, ${lanes} at a time`
        rows.push([label, rivals[at]!.label, ...middle(puts), ...middle(gets)])
      }
    }
  }
  for (const rival of rivals) await rival.close()
  const header = ['bodies', 'store', 'puts/s', 'p50 ms', 'p99 ms', 'gets/s', 'p50 ms', 'p99 ms']
  return markdownTable(header, rows)
}

async function rivalLmdb(folder: string): Promise<Rival[]> {
  try {
    return [await lmdb(installLmdb(folder), join(folder, 'speed-lmdb'))]
  } catch (error) {
    process.stderr.write(`without lmdb: ${String(error)}\n`)
    return []
  }
}
