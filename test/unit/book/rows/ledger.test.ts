import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { LEDGER_FILE } from '../../../../src/runtime/data-files.ts'
import { inlineTasks, ledgerFolder, ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../../support/ledger/rows.ts'

const HOUR_MS = 3_600_000

describe('the ledger', () => {
  it('sums results by cause, and has them before anything is asked twice', async () => {
    const { ledger } = ownLedger()
    ledger.result(resultOf('a', { before: 100, referred: 10, encoded: 20, omitted: 5 }))
    ledger.result(resultOf('a', { before: 50, encoded: 0, reason: 'no_format', exact: false }))
    const other = { before: 170, encoded: 0, reason: 'not_smaller' } as const
    ledger.result(resultOf('a', other, { source: 'mcp' }))
    const { results, estimated, unchanged, bySource } = await ledger.overview('a', 24, 1)
    expect(results).toEqual({ results: 3, before: 320, referred: 10, encoded: 20, omitted: 5 })
    expect(estimated).toBe(1)
    expect(unchanged).toEqual([
      { reason: 'not_smaller', count: 1, tokens: 170 },
      { reason: 'no_format', count: 1, tokens: 50 },
    ])
    expect(bySource).toEqual([
      { source: 'mcp', results: 1, before: 170, referred: 0, encoded: 0, omitted: 0 },
      { source: 'encode', results: 2, before: 150, referred: 10, encoded: 20, omitted: 5 },
    ])
  })

  it('sums bills, which may be negative, and counts what was not read', async () => {
    const { ledger } = ownLedger()
    ledger.turn(turnOf({ tenant: 'a', billed: 90, without: 60, prefix_changed: true }))
    ledger.turn(turnOf({ tenant: 'a', known: false, billed: 0, without: 0 }))
    ledger.turn(turnOf({ tenant: 'a', untouched: 'too_large', billed: 5, without: 5 }))
    const { bill, prefixChanges, untouched } = await ledger.overview('a', 24, 1)
    expect(bill).toEqual({ turns: 3, unknown: 1, billed: 95, without: 65 })
    expect(prefixChanges).toBe(1)
    expect(untouched).toEqual([{ reason: 'too_large', count: 1, tokens: 0 }])
  })

  it('puts each hour into its part of the window, and leaves out what is older', async () => {
    let now = 1_000 * HOUR_MS
    const { ledger } = ownLedger({ now: () => now })
    for (const hours of [0, 1, 23, 24]) {
      ledger.result(resultOf('a', {}, { at: now - hours * HOUR_MS }))
    }
    const { buckets, results } = await ledger.overview('a', 24, 1)
    expect(results.results).toBe(3)
    expect(buckets.map(each => each.results)).toEqual([1, ...Array(21).fill(0), 1, 1])
    expect(buckets.at(-1)?.at).toBe(now)
    now += HOUR_MS
    expect((await ledger.overview('a', 24, 12)).buckets.map(each => each.results)).toEqual([0, 2])
  })

  it('names the tools with the most tokens that are still sent', async () => {
    const { ledger } = ownLedger()
    const saved = {
      none: { referred: 100 },
      large: { referred: 5 },
      middle: { encoded: 50 },
      small: { omitted: 90 },
      most: {},
    }
    for (const [tool, by] of Object.entries(saved)) {
      ledger.result(resultOf('a', { tool, before: 100, encoded: 0, ...by }))
    }
    const { heaviest } = await ledger.overview('a', 24, 1)
    expect(heaviest.map(({ tool }) => tool)).toEqual(['most', 'large', 'middle'])
  })

  it('has conversations with their requests and results in order, the latest first', async () => {
    const { ledger } = ownLedger({ now: () => 10 })
    const [old, late] = ['1'.repeat(16), '2'.repeat(16)]
    ledger.result(resultOf('a', { session: old, tool: 'first' }, { at: 2 }))
    ledger.result(resultOf('a', { session: old, tool: 'second' }, { at: 1 }))
    ledger.result(resultOf('a', { tool: 'third' }, { at: 3, conversation: late }))
    const origin = { project: 'atlas', client: 'curl' }
    ledger.turn(turnOf({ tenant: 'a', at: 4, conversation: late, model: 'opus', origin }))
    const silent = { known: false, untouched: 'signed', prefix_changed: true }
    ledger.turn(turnOf({ tenant: 'a', at: 5, conversation: late, model: null, ...silent }))
    const { rows, total } = await ledger.conversations('a', 0, 10)
    expect(total).toBe(2)
    expect(rows).toMatchObject([
      {
        id: late,
        project: 'atlas',
        agent: 'curl',
        model: 'opus',
        turns: 2,
        results: 1,
        billed: 80,
        without: 120,
        last_at: 5,
      },
      { id: old, turns: 0, results: 2, before: 200, saved: 80, first_at: 1, last_at: 2 },
    ])
    expect((await ledger.conversations('a', 1, 10)).rows.map(({ id }) => id)).toEqual([old])
    const found = await ledger.conversation('a', old)
    const of = { source: 'encode', conversation: old }
    expect(found?.results).toMatchObject([
      { ...of, tool: 'first', at: 2, before: 100, encoded: 40 },
      { ...of, tool: 'second', at: 1 },
    ])
    expect(found?.results[0]).not.toHaveProperty('session')
    const bill = { removed: 30, billed: 40, without: 60, known: 1, untouched: '' }
    const turn = { ...bill, uncached: 10, cache_read: 50, cache_write: 20, output: 5 }
    expect((await ledger.conversation('a', late))?.turns).toMatchObject([
      { ...turn, at: 4, vendor: 'anthropic', model: 'opus', prefix_changed: 0 },
      { ...turn, at: 5, model: '', known: 0, untouched: 'signed', prefix_changed: 1 },
    ])
  })

  it('shows a tenant nothing of another', async () => {
    const { ledger } = ownLedger()
    const session = '1'.repeat(16)
    ledger.result(resultOf('a', { session, original: 'f'.repeat(64), omitted: 5 }))
    ledger.turn(turnOf({ tenant: 'a' }))
    ledger.fetched({ tenant: 'b', original: 'f'.repeat(24), at: Date.now(), bytes: 9 })
    const [mine] = await ledger.latest('a', 1)
    expect(await ledger.item('a', mine!.id)).toMatchObject({ tool: 'search' })
    expect(await ledger.item('b', mine!.id)).toBeNull()
    expect(await ledger.conversation('b', session)).toBeNull()
    expect(await ledger.latest('b', 9)).toEqual([])
    expect(await ledger.conversations('b', 0, 9)).toEqual({ rows: [], total: 0 })
    expect(await ledger.tools('b', 24)).toEqual({ rows: [], fetched: [] })
    const { results, bill } = await ledger.overview('b', 24, 1)
    expect([results.results, bill.turns]).toEqual([0, 0])
  })

  it('counts what was fetched again by the tool whose text it was', async () => {
    const { ledger } = ownLedger()
    const original = 'ab'.repeat(32)
    ledger.result(resultOf('a', { tool: 'logs', original, omitted: 5 }))
    ledger.result(resultOf('a', { tool: 'logs', original, omitted: 5 }))
    ledger.result(resultOf('a', { tool: 'other', original: 'cd'.repeat(32), omitted: 5 }))
    for (const bytes of [100, 20]) {
      ledger.fetched({ tenant: 'a', original: original.slice(0, 24), at: Date.now(), bytes })
    }
    const { fetched } = await ledger.tools('a', 24)
    expect(fetched).toEqual([{ tool: 'logs', times: 2, bytes: 120 }])
    const { by } = await ledger.gain(['a'], 1, null)
    expect(by.tool.map(each => [each.name, each.results, each.fetched]).toSorted()).toEqual([
      ['logs', 2, 2],
      ['other', 1, 0],
    ])
  })

  it('sums tools beyond a bound together, so that names cannot fill it', async () => {
    const { ledger } = ownLedger()
    for (let at = 0; at < 1_200; at++) ledger.result(resultOf('a', { tool: `tool ${at}` }))
    const { rows } = await ledger.tools('a', 24)
    expect(rows).toHaveLength(1_001)
    expect(rows.find(({ tool }) => tool === '(other)')?.results).toBe(200)
  })

  it('drops what does not fit into its memory, and says how much', async () => {
    const { ledger, dropped } = ownLedger({ flushMs: 2 ** 31 - 1 })
    for (let at = 0; at < 20_010; at++) ledger.result(resultOf('a'))
    expect(dropped).toHaveLength(10)
    expect((await ledger.overview('a', 24, 1)).results.results).toBe(20_000)
  })

  it('says once that it cannot write, and goes on when it can', async () => {
    const folder = ledgerFolder()
    let isBroken = true
    const real = ownLedger({ folder })
    const { ledger, failures, dropped } = ownLedger({
      folder,
      thread: {
        run: async (_by, name, input) => {
          if (isBroken && name === 'write') throw new Error('disk full')
          if (name === 'write') {
            const { arrivals } = input as unknown as { arrivals: never[] }
            for (const each of arrivals) real.ledger.result(each)
          }
          return null as never
        },
        close: async () => {},
      },
    })
    ledger.result(resultOf('a'))
    await ledger.latest('a', 1)
    ledger.result(resultOf('a'))
    await ledger.latest('a', 1)
    expect(failures).toEqual(['Error: disk full'])
    expect(dropped).toEqual([1, 1])
    isBroken = false
    ledger.result(resultOf('a'))
    await ledger.latest('a', 1)
    expect(await real.ledger.latest('a', 9)).toHaveLength(1)
  })

  it('keeps rows while another process holds the file, and loses none', async () => {
    const folder = ledgerFolder()
    const { ledger, dropped, failures } = ownLedger({ folder })
    const count = async () => (await ledger.overview('a', 24, 1)).results.results
    ledger.result(resultOf('a'))
    expect(await count()).toBe(1)
    const other = new DatabaseSync(join(folder, LEDGER_FILE))
    other.exec('BEGIN IMMEDIATE')
    ledger.result(resultOf('a'))
    ledger.turn(turnOf({ tenant: 'a' }))
    expect(await count()).toBe(1)
    ledger.result(resultOf('a'))
    other.exec('ROLLBACK')
    other.close()
    expect(await count()).toBe(3)
    expect((await ledger.overview('a', 24, 1)).bill.turns).toBe(1)
    expect(dropped).toEqual([])
    expect(failures).toEqual([expect.stringContaining('another process holds the ledger')])
  })

  it('writes no row twice if the file is held while it is pruned', async () => {
    const folder = ledgerFolder()
    const tasks = inlineTasks()
    const other = { database: null as DatabaseSync | null }
    const { ledger, dropped, failures } = ownLedger({
      folder,
      thread: {
        run(by, name, input) {
          // Another process takes the file right after the rows were written.
          if (name === 'prune' && other.database === null) {
            other.database = new DatabaseSync(join(folder, LEDGER_FILE))
            other.database.exec('BEGIN IMMEDIATE')
          }
          return tasks.run(by, name, input)
        },
        close: tasks.close,
      },
    })
    ledger.result(resultOf('a'))
    expect((await ledger.overview('a', 24, 1)).results.results).toBe(1)
    other.database?.close()
    ledger.result(resultOf('a'))
    expect((await ledger.overview('a', 24, 1)).results.results).toBe(2)
    expect([dropped, failures]).toEqual([[], []])
  })

  it('keeps rows and shows the last figures while its folder is away', async () => {
    const folder = join(ledgerFolder(), 'data')
    const away = `${folder}-away`
    const { ledger, dropped, failures } = ownLedger({ folder })
    const overview = () => ledger.overview('a', 24, 1)
    ledger.result(resultOf('a'))
    expect((await overview()).results.results).toBe(1)
    renameSync(folder, away)
    ledger.result(resultOf('a'))
    const last = await overview()
    expect(last.results.results).toBe(1)
    expect(ledger.readAt(last)).not.toBeNull()
    expect(existsSync(folder)).toBe(false)
    renameSync(away, folder)
    ledger.result(resultOf('a'))
    expect((await overview()).results.results).toBe(3)
    expect(dropped).toEqual([])
    expect(failures).toEqual([expect.stringContaining('the ledger cannot be opened')])
  })

  it('goes on in a new file if its own was removed or replaced', async () => {
    const folder = ledgerFolder()
    const { ledger } = ownLedger({ folder })
    ledger.result(resultOf('a'))
    expect(await ledger.latest('a', 9)).toHaveLength(1)
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, LEDGER_FILE + end), { force: true })
    ledger.result(resultOf('a', { tool: 'later' }))
    expect(await ledger.latest('a', 9)).toMatchObject([{ tool: 'later' }])
    expect(existsSync(join(folder, LEDGER_FILE))).toBe(true)
  })

  it('shows the last figures if it cannot be read, and says of when they are', async () => {
    let now = 1_000 * HOUR_MS
    let isAway = false
    const tasks = inlineTasks()
    const { ledger } = ownLedger({
      now: () => now,
      thread: {
        run: (by, name, input) =>
          isAway
            ? Promise.reject(new AppError('overloaded', 'another process holds the ledger'))
            : tasks.run(by, name, input),
        close: tasks.close,
      },
    })
    ledger.result(resultOf('a', {}, { at: now }))
    const before = await ledger.overview('a', 24, 1)
    expect(ledger.readAt(before)).toBeNull()
    isAway = true
    now += 60_000
    const after = await ledger.overview('a', 24, 1)
    expect(after).toEqual(before)
    expect(ledger.readAt(after)).toBe(1_000 * HOUR_MS)
    // Another question has no earlier answer.
    await expect(ledger.tools('a', 24)).rejects.toThrow('another process holds the ledger')
    isAway = false
    now += 60_000
    expect(ledger.readAt(await ledger.overview('a', 24, 1))).toBeNull()
  })

  it('reads once for pages that ask for the same, until something is written', async () => {
    const folder = ledgerFolder()
    let now = Date.now()
    const reads: string[] = []
    const tasks = inlineTasks()
    const { ledger } = ownLedger({
      folder,
      now: () => now,
      thread: {
        run(by, name, input) {
          if (name !== 'prune') reads.push(name)
          return tasks.run(by, name, input)
        },
        close: tasks.close,
      },
    })
    const count = async () => (await ledger.overview('a', 24, 1)).results.results
    ledger.result(resultOf('a'))
    expect(await Promise.all([count(), count(), count()])).toEqual([1, 1, 1])
    expect((await ledger.overview('b', 24, 1)).results.results).toBe(0)
    expect(reads).toEqual(['write', 'overview', 'overview'])
    ledger.result(resultOf('a'))
    expect(await count()).toBe(2)
    const { ledger: other } = ownLedger({ folder })
    other.result(resultOf('a'))
    await other.latest('a', 1)
    now += 2_000
    expect(await count()).toBe(3)
  })

  it('tells a tenant that something was written, and no other', async () => {
    const { ledger } = ownLedger()
    const heard: string[] = []
    const end = ledger.onWritten('a', () => heard.push('a'))
    ledger.onWritten('b', () => heard.push('b'))
    ledger.result(resultOf('a'))
    await ledger.latest('a', 1)
    end()
    ledger.result(resultOf('a'))
    await ledger.latest('a', 1)
    expect(heard).toEqual(['a'])
  })
})
