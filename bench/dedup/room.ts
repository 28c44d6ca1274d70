import { hash } from 'node:crypto'
import { attachIndex } from '../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../src/core/sessions/index/layout.ts'
import { indexUse } from '../../src/core/sessions/index/owners.ts'
import { sessionKey } from '../../src/core/sessions/index/session-index.ts'
import { residentMib } from '../support/machine.ts'
import { markdownTable } from '../support/markdown-table.ts'

const SIZE = { maxSessions: 100_000, maxEntries: 500_000 }
const identity = hash('sha256', 'body')
const FACTS = { identity, kind: 'other', toolHash: 1, pathHash: 2, callHash: 0, bytes: 9 } as const

/**
 * The memory of 100,000 sessions of five entries, and a million sessions that come after one
 * another.
 */
export async function room(): Promise<string> {
  const before = residentMib(process.pid)
  const memory = createIndexMemory(SIZE)
  const index = attachIndex(memory, { owner: 1 })
  const rows: (string | number)[][] = []
  const row = (what: string, ns: number | string) => {
    const { sessions, entries, evicted } = indexUse(memory)
    const resident = residentMib(process.pid) - before
    rows.push([what, sessions, entries, evicted, memory.byteLength / 1e6, resident, ns])
  }
  const visit = (i: number) => {
    const turn = index.begin(sessionKey('tenant', `session ${i}`), { timeMs: i })
    const entry = { ...FACTS, timeMs: i, answer: 'full', of: 0 } as const
    index.commit(index.record(turn, entry, { lruSize: 5 })!, true)
  }
  row('empty', '')
  for (let round = 0; round < 5; round++) for (let i = 0; i < 100_000; i++) visit(i)
  row('100,000 × 5', '')
  for (let tenth = 0; tenth < 10; tenth++) {
    const started = process.hrtime.bigint()
    for (let i = 0; i < 100_000; i++) visit(100_000 * (tenth + 1) + i)
    const ns = Number(process.hrtime.bigint() - started) / 100_000
    if (tenth === 0 || tenth === 9) row(`new sessions, part ${tenth + 1} of 10`, ns)
  }
  const header = [
    '',
    'sessions',
    'entries',
    'evicted',
    'memory MB',
    'resident MiB, more',
    'ns each',
  ]
  return markdownTable(header, rows)
}
