import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { billLogs, newestLogs } from '../../../../src/lab/bill/bill-logs.ts'
import { readBillSessions } from '../../../../src/lab/bill/read-logs.ts'
import { billTables } from '../../../../src/lab/tune/bill-report.ts'

const folder = mkdtempSync(join(tmpdir(), 'bill-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SECOND_0 = Date.parse('2026-01-02T03:04:05Z') / 1_000
const ROWS = Array.from({ length: 60 }, (_, id) => ({ id, state: 'open', owner: 'someone' }))
const LIST = JSON.stringify(ROWS)

const at = (second: number) => new Date(1_000 * (SECOND_0 + second)).toISOString()

function answer(id: string, second: number, usage: object, part: object, more: object = {}) {
  const message = { id, model: 'm-1', usage, content: [part] }
  return { type: 'assistant', sessionId: 's', timestamp: at(second), message, ...more }
}

function user(second: number, content: unknown, more: object = {}) {
  return { type: 'user', sessionId: 's', timestamp: at(second), message: { content }, ...more }
}

const CALL = { type: 'tool_use', id: 'c1', name: 'list', input: { page: 1 } }
const RESULT = { type: 'tool_result', tool_use_id: 'c1', content: LIST }
const FIRST = { input_tokens: 5, cache_creation_input_tokens: 1_000, output_tokens: 2 }
const SECOND = {
  ...{ input_tokens: 5, cache_read_input_tokens: 1_000, output_tokens: 90 },
  cache_creation_input_tokens: 1_500,
  cache_creation: { ephemeral_1h_input_tokens: 1_500 },
}

const LOG = [
  user(0, 'list them'),
  answer('a', 3, FIRST, { type: 'text', text: 'at once' }),
  // The same message goes on: its usage is said again, and its output has grown.
  answer('a', 4, { ...FIRST, output_tokens: 40 }, CALL),
  user(6, [RESULT]),
  answer('b', 9, SECOND, { type: 'thinking', thinking: 'one two' }),
]

function write(name: string, lines: readonly object[]) {
  const path = join(folder, name)
  const text = `${lines.map(each => JSON.stringify(each)).join('\n')}\n`
  writeFileSync(path, text)
  return { path, bytes: text.length }
}

const words = (text: string) => text.split(' ').length

describe('the calls of a log', () => {
  it('are what the provider billed, with what came between them', () => {
    const [session, ...others] = readBillSessions(write('one.jsonl', LOG), new Set(), words)
    expect(others).toEqual([])
    expect(session!.calls).toEqual([
      {
        ...{ ts: SECOND_0, end: SECOND_0 + 4, model: 'm-1', fresh: 5, read: 0, write: 1_000 },
        ...{ hour: 0, output: 40, said: 2, calls: 1, user: 2, userTexts: 1, compacted: false },
        results: [],
      },
      {
        ...{ ts: SECOND_0 + 6, end: SECOND_0 + 9, model: 'm-1', fresh: 5, read: 1_000 },
        ...{ write: 1_500, hour: 1_500, output: 90, said: 2, calls: 0, user: 0, userTexts: 0 },
        ...{ compacted: false },
        results: [{ tool: 'list', args: { page: 1 }, text: LIST, isError: false }],
      },
    ])
  })

  it('are billed once where a later log repeats them', () => {
    const billed = new Set<string>()
    readBillSessions(write('one.jsonl', LOG), billed, words)
    const more = [...LOG, user(12, 'go on'), answer('d', 13, FIRST, { type: 'text', text: 'ok' })]
    const [again] = readBillSessions(write('two.jsonl', more), billed, words)
    expect(again!.calls).toMatchObject([{ results: [], userTexts: 1, fresh: 5 }])
  })

  it('of a sub-agent are a context of their own', () => {
    const side = { isSidechain: true, agentId: 'x' }
    const sub = [user(4, 'look', side), answer('e', 5, FIRST, { type: 'text', text: 'seen' }, side)]
    const log = write('sub.jsonl', [...LOG.slice(0, 3), ...sub, ...LOG.slice(3)])
    const sessions = readBillSessions(log, new Set(), words)
    expect(sessions.map(({ calls }) => calls.length)).toEqual([2, 1])
    expect(sessions[0]!.calls[1]!.results).toHaveLength(1)
  })

  it('forget what came before a compaction', () => {
    const boundary = { type: 'system', subtype: 'compact_boundary', sessionId: 's' }
    const log = write('compacted.jsonl', [...LOG.slice(0, 4), boundary, LOG[4]!])
    const [session] = readBillSessions(log, new Set(), words)
    expect(session!.calls[1]).toMatchObject({ compacted: true, results: [] })
  })
})

describe('the bill of logs', () => {
  it('is their usage by its prices, and has what each arm would have saved', () => {
    const bill = billLogs([write('one.jsonl', LOG)], () => {})
    const { direct, arms, sessions, calls } = bill
    expect([sessions, calls]).toEqual([1, 2])
    const paid = 2 * 5 + 1.25 * 1_000 + 0.1 * 1_000 + 2 * 1_500 + 5 * (40 + 90)
    expect(Object.values(direct).reduce((sum, each) => sum + each)).toBeCloseTo(paid)
    expect(arms.lossless.saved).toBeGreaterThan(0.1)
    expect(arms.no_results.saved).toBeGreaterThan(arms.lossless.saved)
    expect(arms.lossless).toMatchObject({ dearer: 0, worst: 0 })
    expect(billTables(bill)).toMatch(/2 calls of 1 sessions[\s\S]*lossless +\d+\.\d %/)
  })

  it("shows beside it how many of the provider's tokens one of o200k is", () => {
    const text = ' word'.repeat(2_000).trim()
    const log = Array.from({ length: 6 }, (_, n) => [
      user(10 * n, [{ type: 'tool_result', tool_use_id: `c${n - 1}`, content: text }]),
      answer(
        `m${n}`,
        10 * n + 5,
        { cache_creation_input_tokens: 9_000 + 3_000 * n, output_tokens: 1 },
        { type: 'tool_use', id: `c${n}`, name: 'list', input: {} },
      ),
    ])
    const bill = billLogs([write('large.jsonl', log.flat())], () => {})
    expect(bill.factors['m-1']?.samples).toBe(5)
    expect(billTables(bill)).toMatch(/m-1 +1\.50 +5/)
  })

  it('is not shown of logs without usage', () => {
    expect(billTables(billLogs([write('none.jsonl', [LOG[0]!])], () => {}))).toBe('')
  })

  it('is of the newest logs', () => {
    const logs = ['old', 'newer', 'newest'].map(name => write(`${name}.jsonl`, LOG))
    for (const [age, { path }] of logs.entries()) utimesSync(path, age + 1, age + 1)
    expect(newestLogs(logs, 2 * logs[0]!.bytes)).toEqual(logs.slice(1))
    expect(newestLogs(logs, 1)).toEqual(logs.slice(2))
  })
})
