import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addToolUse,
  agentToolsOf,
  createToolWatcher,
  type ToolUse,
  useOf,
} from '../../../../src/book/bill/agent-tools.ts'
import { addBills, emptyBill, readBill, writeBill } from '../../../../src/book/bill/tenant-bill.ts'
import { runs } from '../../../support/runs.ts'

const DAY = 86_400_000
const NOW = 1_800_000_000_000

const seen = (day: number, conversation: string, ...called: string[]) =>
  useOf({ kind: 7, conversation, called }, NOW + day * DAY)

function later(...uses: ToolUse[]): ToolUse {
  return uses.reduce<ToolUse[]>((all, each) => addToolUse(all, [each]), [])[0]!
}

const recent = (use: ToolUse, day: number) => agentToolsOf(use, NOW + day * DAY).recent?.toSorted()

describe('the tools of a kind of agent', () => {
  const days = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => seen(from + i, `c${from + i}`, 'read'))

  it('are known from five conversations on that called any', () => {
    const four = [...days(0, 4), seen(4, 'silent'), seen(4, 'c0', 'write')]
    expect(recent(later(...four), 4)).toBeUndefined()
    expect(recent(later(...four, seen(5, 'c4', 'list')), 5)).toEqual(['list', 'read', 'write'])
  })

  it('are recent for seven days, however many conversations there were', () => {
    const use = later(seen(0, 'first', 'task'), ...days(1, 7))
    expect(recent(use, 7)).toEqual(['read', 'task'])
    expect(recent(use, 7.1)).toEqual(['read'])
  })

  it('are recent for five conversations, however long ago', () => {
    const use = later(seen(0, 'first', 'task'), ...days(1, 5))
    expect(recent(use, 300)).toEqual(['read', 'task'])
    expect(recent(later(use, seen(301, 'next', 'read')), 301)).toEqual(['read'])
  })

  it('are the same whoever counted what, and kept in the ledger', () => {
    const entry = fc.record({
      kind: fc.constantFrom(1, 2),
      conversation: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      called: fc.uniqueArray(fc.constantFrom('read', 'write', 'task'), { maxLength: 3 }),
      at: fc.nat(6),
    })
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), fc.nat(20), (entries, cut) => {
        const uses = entries.map(({ at, ...of }) => useOf(of, NOW + at * DAY))
        const add = (all: ToolUse[], use: ToolUse) => addToolUse(all, [use])
        const ledgers = [uses.slice(0, cut), uses.slice(cut)].map(some => {
          const ledger = { ...emptyBill(NOW), uses: some.reduce(add, []) }
          return readBill(writeBill(ledger))!
        })
        const both = addBills(ledgers[0]!, ledgers[1]!).uses
        const tools = (all: readonly ToolUse[]) =>
          all
            .map(each => agentToolsOf(each, NOW + 6 * DAY))
            .map(each => [each.kind, each.recent?.toSorted()])
        expect(tools(both)).toEqual(tools(uses.reduce(add, [])))
      }),
      { numRuns: runs(100) },
    )
  })

  it('are bounded by kinds and names', () => {
    const kinds = Array.from({ length: 100 }, (_, kind) =>
      useOf({ kind, conversation: 'c', called: ['read'] }, NOW + kind),
    )
    const all = kinds.reduce<ToolUse[]>((sum, each) => addToolUse(sum, [each]), [])
    expect(all.map(each => each.kind)).toEqual(Array.from({ length: 64 }, (_, at) => 99 - at))
    const atOnce = [3, 1, 2].map(kind => useOf({ kind, conversation: 'c', called: [] }, NOW))
    expect(addToolUse([], atOnce).map(each => each.kind)).toEqual([1, 2, 3])
    const names = Array.from({ length: 9 }, (_, i) =>
      seen(i / 9, 'c', ...Array.from({ length: 100 }, (_, n) => `t${i}.${n}`)),
    )
    const { calls } = later(...names)
    expect(calls).toHaveLength(512)
    expect(calls.at(-1)?.[0]).toBe('t3.19')
  })

  it('are none in ledgers of earlier versions', () => {
    const { uses: _, ...earlier } = emptyBill(NOW)
    expect(readBill(Buffer.from(JSON.stringify(earlier)))?.uses).toEqual([])
  })
})

describe('what is known of the agents of a tenant', () => {
  const use = (kind: number): ToolUse => ({ kind, begun: [], calls: [] })
  const known = (kind: number) => [{ kind, recent: null }]
  const MINUTE = 60_000

  it('is read beside requests and again after a minute, and stays if it cannot be', async () => {
    const clock = { now: NOW }
    const accounts = { uses: null as ToolUse[] | null, reads: [] as string[] }
    const watcher = createToolWatcher({
      now: () => clock.now,
      async read(tenant) {
        accounts.reads.push(tenant)
        return accounts.uses
      },
    })
    // After how long it is asked for, what the accounts have, what is known, and reads so far.
    for (const [pause, uses, tools, reads] of [
      [0, null, undefined, 1],
      [MINUTE, [use(1)], undefined, 1],
      [1, [use(1)], undefined, 2],
      [MINUTE, [use(2)], known(1), 2],
      [1, [use(2)], known(1), 3],
      [0, [], known(2), 3],
      [MINUTE + 1, null, known(2), 4],
      [-MINUTE, [], known(2), 4],
      [-1, [], known(2), 5],
      [0, null, [], 5],
    ] as const) {
      clock.now += pause
      accounts.uses = uses as ToolUse[] | null
      expect(watcher.of('t')).toEqual(tools)
      expect(accounts.reads).toHaveLength(reads)
      await new Promise(setImmediate)
    }
    expect(watcher.of('u')).toBeUndefined()
    expect(accounts.reads.at(-1)).toBe('u')
    accounts.uses = [use(3)]
    watcher.forget('t')
    expect(watcher.of('t')).toEqual([])
    await new Promise(setImmediate)
    expect(watcher.of('t')).toEqual(known(3))
    expect(accounts.reads).toHaveLength(7)
  })
})
