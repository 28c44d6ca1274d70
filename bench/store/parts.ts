import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type PartQuery, parsePart } from '../../src/core/parts/parse-part.ts'
import { openSqliteStore } from '../../src/store/sqlite/client.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile } from '../support/statistics.ts'
import { noise, prose } from './bodies.ts'
import { timed } from './timed.ts'

const ROUNDS = 15
const MB = 1_000_000

/** Parts of a large body, end to end through the thread; 10 MB and the largest that is taken. */
export async function parts(folder: string): Promise<string> {
  const store = await openSqliteStore({ folder: join(folder, 'parts'), onEvent: () => {} })
  const rows: (string | number)[][] = []
  for (const size of [10 * MB, 16 * MB]) {
    const lines = prose(size, 'parts')
    const end = lines.lastIndexOf(10)
    const list = Buffer.from(
      `[${Buffer.from(lines.subarray(0, end)).toString().replaceAll('\n', ',')}]`,
    )
    // Ever nearly a match: what plain search is slowest at.
    const hostile = Buffer.alloc(size, 'a')
    const queries: [string, Uint8Array, PartQuery | undefined][] = [
      ['whole', lines, undefined],
      ['lines=100000-100040', lines, { lines: '100000-100040' }],
      ['lines=-20', lines, { lines: '-20' }],
      ['bytes=5000000-5004095', lines, { bytes: '5000000-5004095' }],
      ['path=$[100000:100006].path', list, { path: '$[100000:100006].path' }],
      ['path=$[-1].id', list, { path: '$[-1].id' }],
      ['grep=src/77/&context=2', lines, { grep: 'src/77/', context: '2' }],
      ['grep, nothing found', lines, { grep: 'not in there' }],
      ['grep, hostile', hostile, { grep: `${'a'.repeat(1000)}b` }],
    ]
    for (const [label, body, query] of queries) {
      const [kept] = await store.put([{ tenant: 't', body, mediaType: 'text/plain' }])
      if (kept?.ok !== true) throw new Error(JSON.stringify(kept))
      const reference = { tenant: 't', ref: kept.hash }
      const selector = query === undefined ? undefined : parsePart(query)
      const { ms } = await timed(ROUNDS, 1, async () => {
        const result =
          selector === undefined
            ? await store.get(reference)
            : await store.part(reference, selector)
        if (!result.ok) throw new Error(result.detail)
      })
      rows.push([`${size / MB} MB`, label, percentile(ms, 0.5), Math.max(...ms)])
    }
  }
  await store.close()
  return markdownTable(['body', 'part', 'median ms', 'max ms'], rows)
}

/** How late timers of the main thread are while the store is busy, in milliseconds. */
export async function loopDelay(folder: string): Promise<string> {
  const store = await openSqliteStore({
    folder: join(folder, 'delay'),
    maxBytes: 4 * 2 ** 30,
    onEvent: () => {},
  })
  const rows: (string | number)[][] = []
  const small = Array.from({ length: 2000 }, (_, i) => noise(4096, `delay ${i}`))
  const large = Array.from({ length: 30 }, (_, i) => noise(10 * MB, `delay ${i}`))
  let longest = 0
  /** Notes how long a call keeps the main thread before it gives its promise. */
  const begin = <T>(call: () => Promise<T>): Promise<T> => {
    const from = performance.now()
    const promise = call()
    longest = Math.max(longest, performance.now() - from)
    return promise
  }
  const put = async (body: Uint8Array, transfer: boolean) => {
    const item = { tenant: 't', body, mediaType: 'x', transfer }
    const [kept] = await begin(() => store.put([item]))
    if (kept?.ok !== true) throw new Error(JSON.stringify(kept))
    return kept.hash
  }
  const refs: string[] = []
  const work: [string, () => Promise<unknown>][] = [
    ['nothing', () => new Promise(resolve => setTimeout(resolve, 1000))],
    ['puts of 4 KiB, 32 at a time', () => timed(2000, 32, i => put(small[i]!, false))],
    ['puts of 10 MB, copied', () => timed(10, 2, async i => put(large[i]!, false))],
    [
      'puts of 10 MB, transferred',
      () => timed(20, 2, async i => refs.push(await put(large[10 + i]!, true))),
    ],
    [
      'gets of 10 MB',
      () => timed(40, 2, i => begin(() => store.get({ tenant: 't', ref: refs[i % 20]! }))),
    ],
  ]
  for (const [label, run] of work) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    longest = 0
    delay.enable()
    await run()
    delay.disable()
    const late = [delay.percentile(50), delay.percentile(99), delay.max].map(ns => ns / 1e6)
    rows.push([label, longest, ...late])
  }
  await store.close()
  return markdownTable(['meanwhile', 'longest call ms', 'delay p50 ms', 'p99 ms', 'max ms'], rows)
}
