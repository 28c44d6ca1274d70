import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/client.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile } from '../support/statistics.ts'
import { noise } from './bodies.ts'
import { timed } from './timed.ts'

const MIB = 2 ** 20

/** How large the files get when several times the cap is put, and what evicting costs the puts. */
export async function cap(folder: string): Promise<string> {
  const rows: (string | number)[][] = []
  for (const [maxBytes, size, count] of [
    [64 * MIB, 1024, 150_000],
    [64 * MIB, 4096, 40_000],
    [64 * MIB, 65_536, 4000],
    [64 * MIB, 4 * MIB, 60],
    [512 * MIB, 65_536, 20_000],
  ] as const) {
    const name = `cap-${maxBytes}-${size}`
    const store = await openSqliteStore({ folder: join(folder, name), maxBytes, onEvent: () => {} })
    const file = (suffix: string) =>
      statSync(join(folder, name, `store.sqlite${suffix}`), { throwIfNoEntry: false })?.size ?? 0
    let most = 0
    let refused = 0
    const put = async (i: number) => {
      const body = noise(size, `cap ${i}`)
      const [result] = await store.put([{ tenant: 't', body, mediaType: 'x' }])
      if (result?.ok !== true) refused++
      if (i % 8 === 0 || size > MIB) most = Math.max(most, file('') + file('-wal'))
    }
    const { ms, total_ms } = await timed(count, size > MIB ? 2 : 32, put)
    const stats = await store.stats()
    const kept = stats.ok ? stats.stored_bytes : Number.NaN
    rows.push([
      `${maxBytes / MIB} MiB`,
      `${size / 1024} KiB`,
      (count * size) / maxBytes,
      `${((100 * most) / maxBytes).toFixed(1)} %`,
      `${((100 * kept) / maxBytes).toFixed(1)} %`,
      refused,
      count / (total_ms / 1000),
      percentile(ms, 0.99),
    ])
    await store.close()
  }
  const header = [
    'cap',
    'bodies',
    'put, times the cap',
    'most on disk',
    'kept at the end',
    'refused',
  ]
  return markdownTable([...header, 'puts/s', 'p99 ms'], rows)
}
