import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openLedgerFile } from '../../../../src/book/rows/database.ts'
import { dayOf } from '../../../../src/book/rows/day-of.ts'
import type { DaySums } from '../../../../src/book/rows/read-days.ts'
import { LEDGER_FILE } from '../../../../src/runtime/data-files.ts'
import { LIMITS, ledgerFolder, ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../../support/ledger/rows.ts'

type Row = DaySums & Readonly<Record<string, string | number>>

function daysIn(folder: string): readonly Row[] {
  const database = openLedgerFile(folder)
  try {
    return database
      .prepare('SELECT * FROM day JOIN day_kind ON id = kind')
      .all() as unknown as Row[]
  } finally {
    database.close()
  }
}

const total = (rows: readonly Row[], name: keyof DaySums) =>
  rows.reduce((sum, row) => sum + row[name], 0)

it('a day begins at midnight of this machine', () => {
  const offset = vi.spyOn(Date.prototype, 'getTimezoneOffset')
  onTestFinished(() => offset.mockRestore())
  const third = Date.UTC(1970, 0, 4)
  for (const minutes of [300, 0, -60]) {
    offset.mockReturnValue(minutes)
    const midnight = third + minutes * 60_000
    expect([dayOf(midnight - 1), dayOf(midnight)]).toEqual([2, 3])
  }
})

describe('the sums of days', () => {
  it('have a row for each day, way in, project, agent, model and tool', async () => {
    const folder = ledgerFolder()
    const { ledger } = ownLedger({ folder })
    const about = { source: 'anthropic', model: 'm', origin: { project: 'atlas', agent: 'claude' } }
    for (let count = 0; count < 3; count++) {
      ledger.result(resultOf('a', { tool: 'Read', before: 100, encoded: 40 }, about))
    }
    ledger.result(resultOf('a', { tool: 'Bash' }, { source: 'hook', origin: { agent: 'claude' } }))
    await ledger.flush()
    const rows = daysIn(folder)
    expect(rows).toHaveLength(2)
    expect(rows).toContainEqual(
      expect.objectContaining({
        ...{ tenant: 'a', day: dayOf(Date.now()), way: 'proxy', project: 'atlas', agent: 'claude' },
        ...{ model: 'm', tool: 'Read', results: 3, before: 300, encoded: 120, requests: 0 },
      }),
    )
    expect(rows).toContainEqual(expect.objectContaining({ way: 'hook', project: '', tool: 'Bash' }))
  })

  it("add up to the bill, of which each tool's results saved a part", async () => {
    const folder = ledgerFolder()
    const { ledger } = ownLedger({ folder })
    const money = { currency: 'USD', billed: 0.4, without: 1 }
    const tools = [
      ['Read', 30],
      ['Grep', 20],
    ] as const
    ledger.turn(turnOf({ tenant: 'a', billed: 40, without: 100, tools, money }))
    ledger.turn(turnOf({ tenant: 'a', isHidden: true, prefix_changed: true, known: false }))
    await ledger.flush()
    const rows = daysIn(folder)
    const counts = ['requests', 'prefix_changes', 'unknown'] as const
    expect(counts.map(name => total(rows, name))).toEqual([1, 1, 1])
    expect(total(rows, 'billed')).toBe(80)
    expect(total(rows, 'without')).toBe(160)
    expect(total(rows, 'billed_money')).toBeCloseTo(0.4)
    expect(total(rows, 'without_money')).toBeCloseTo(1)
    const ofRead = rows.find(({ tool }) => tool === 'Read')
    expect(ofRead).toMatchObject({ requests: 0, billed: 0, without: 30 })
    expect(ofRead?.without_money).toBeCloseTo(0.3)
    // The hidden round has a bill, and is no request of the client.
    expect((await ledger.overview('a', 24, 1)).bill.turns).toBe(1)
  })

  it('are told apart by tenant, project and currency', async () => {
    const { ledger } = ownLedger()
    const at = (project: string, currency: string, tenant = 'a') =>
      ledger.turn(
        turnOf({ tenant, origin: { project }, money: { currency, billed: 1, without: 3 } }),
      )
    at('atlas', "E'R")
    expect((await ledger.gain(['a'], 1, null)).by.day).toMatchObject([{ currency: "E'R" }])
    at('web', "E'R")
    at('web', 'USD')
    at('web', 'USD', 'b')
    at('web', 'USD', 'c')
    const found = async (tenants: string[], project: string | null) => {
      const { by, from, to, ledger: name } = await ledger.gain(tenants, 2, project)
      expect([to - from, name]).toEqual([1, expect.stringMatching(/^[0-9a-f]{32}$/)])
      for (const [dimension, parts] of Object.entries(by)) {
        expect([dimension, total(parts as never, 'requests')]).toEqual([dimension, sumOf(by.day)])
      }
      return by.day.map(each => [each.currency, each.requests, each.without_money]).toSorted()
    }
    const sumOf = (parts: object) => total(parts as never, 'requests')
    expect(await found(['a'], null)).toEqual([
      ["E'R", 2, 6],
      ['USD', 1, 3],
    ])
    expect(await found(['a', 'b'], 'web')).toEqual([
      ["E'R", 1, 3],
      ['USD', 2, 6],
    ])
    expect(await found(['b'], 'atlas')).toEqual([])
  })

  it('count a result once that one process packed and another one sends on', async () => {
    const folder = ledgerFolder()
    const gateway = ownLedger({ folder }).ledger
    const proxy = ownLedger({ folder }).ledger
    const packed = { tool: 'list_boats', before: 100, encoded: 60, sent: 'abc' }
    gateway.result(resultOf('a', packed, { source: 'mcp', origin: { project: 'atlas' } }))
    // The gateway writes before the answer of a model can come.
    await new Promise(setImmediate)
    const again = { received: 'abc', before: 40, referred: 30, encoded: 0, omitted: 0 }
    const about = { source: 'anthropic', model: 'm' }
    proxy.result(resultOf('a', again, about))
    await proxy.flush()
    expect(daysIn(folder)).toEqual([
      expect.objectContaining({
        ...{ way: 'mcp', project: 'atlas', tool: 'list_boats', model: '' },
        ...{ results: 1, before: 100, encoded: 60, referred: 30 },
      }),
    ])
    const { results } = await proxy.overview('a', 24, 1)
    expect(results).toMatchObject({ results: 1, before: 100, encoded: 60, referred: 30 })
    // The same text once more is another result.
    proxy.result(resultOf('a', again, about))
    await proxy.flush()
    expect(total(daysIn(folder), 'results')).toBe(2)
  })

  it('take no text of one tenant, or of the same way in, for a known one', async () => {
    const folder = ledgerFolder()
    const { ledger } = ownLedger({ folder })
    ledger.result(resultOf('a', { sent: 'abc' }, { source: 'mcp' }))
    ledger.result(resultOf('b', { received: 'abc' }, { source: 'anthropic' }))
    ledger.result(resultOf('a', { received: 'abc' }, { source: 'mcp' }))
    await ledger.flush()
    expect(total(daysIn(folder), 'results')).toBe(3)
  })

  it('keep of what the next service of ours counts only what was saved before it', async () => {
    const folder = ledgerFolder()
    const { ledger } = ownLedger({ folder })
    const row = { before: 100, encoded: 40 }
    ledger.result(resultOf('a', row, { source: 'anthropic', isPassedOn: true }))
    await ledger.flush()
    expect(daysIn(folder)).toEqual([
      expect.objectContaining({ results: 0, before: 40, encoded: 40 }),
    ])
  })

  it('are bounded by day, whatever clients name and however many processes write', async () => {
    const folder = ledgerFolder()
    for (const part of [0, 1, 2]) {
      const { ledger } = ownLedger({ folder })
      for (let count = 0; count < 500; count++) {
        ledger.result(resultOf('a', { tool: `tool ${part} ${count}` }))
      }
      await ledger.close()
    }
    const rows = daysIn(folder)
    expect(rows).toHaveLength(1_001)
    expect(total(rows, 'results')).toBe(1_500)
    expect(rows.find(({ tool }) => tool === '(other)')).toMatchObject({ results: 500 })
  })

  it('outlive the rows, and end after their own time', async () => {
    const folder = ledgerFolder()
    const DAY_MS = 86_400_000
    let now = 1_000 * DAY_MS
    const { ledger } = ownLedger({ folder, now: () => now, limits: { ...LIMITS, days: 30 } })
    ledger.result(resultOf('a', {}, { at: now }))
    await ledger.flush()
    now += 29 * DAY_MS
    ledger.result(resultOf('a', {}, { at: now }))
    await ledger.flush()
    expect(daysIn(folder)).toHaveLength(2)
    expect(await ledger.latest('a', 9)).toHaveLength(1)
    now += DAY_MS
    ledger.result(resultOf('a', {}, { at: now }))
    await ledger.flush()
    expect(daysIn(folder)).toHaveLength(2)
  })

  it.each([
    ['days', 'DROP TABLE day; DROP TABLE day_kind; DROP TABLE ledger_name'],
    ['passing texts', 'DROP TABLE passing'],
    ['kept texts', 'DROP TRIGGER text_of_result; DROP TABLE text'],
    ['names', 'ALTER TABLE conversation DROP project; ALTER TABLE conversation DROP agent'],
  ])('are in a ledger of a version without %s, which keeps its rows', async (_, without) => {
    const folder = ledgerFolder()
    const { ledger } = ownLedger({ folder })
    ledger.result(resultOf('a'))
    await ledger.close()
    const before = new DatabaseSync(join(folder, LEDGER_FILE))
    before.exec(without)
    before.close()
    const { ledger: later } = ownLedger({ folder, textKeys: [] })
    const texts = { before: 'x', after: 'y', format: 'passthrough' }
    later.result(resultOf('a', { session: '1'.repeat(16) }, { source: 'mcp', texts }))
    expect(await later.latest('a', 9)).toHaveLength(2)
    expect(await later.texts('a', 2)).toMatchObject(texts)
    expect(total(daysIn(folder), 'results')).toBe(without.includes('day') ? 1 : 2)
  })
})
