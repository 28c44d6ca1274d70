import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { captureCli } from '../../support/capture.ts'
import { claudeCodeLog, codexLog, type SessionResult } from '../../support/log-writers.ts'
import { temporaryFolder } from '../../unit/book/events/writer.ts'

const DAY_MS = 86_400_000
const rows = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}`, open: true })))

function result(session: string, at: number, fields: Partial<SessionResult> = {}): SessionResult {
  return {
    tool: at % 2 === 0 ? 'list_rows' : 'get_rows',
    args: { at },
    text: rows(5 + at),
    is_error: false,
    call_id: `toolu_${session}_${at}`,
    model: 'claude-sonnet-4-5',
    ts_ms: Date.now() - 1_000,
    compacted: false,
    ...fields,
  }
}

const session = (name: string, count = 4) =>
  claudeCodeLog(
    name,
    Array.from({ length: count }, (_, at) => result(name, at)),
  )

/** A line of an answer, with what it was billed for so far. */
const answer = (id: string, output: number) =>
  `${JSON.stringify({
    type: 'assistant',
    sessionId: 's1',
    timestamp: new Date().toISOString(),
    message: {
      id,
      model: 'claude-sonnet-4-5',
      content: [],
      usage: { input_tokens: 1_000_000, output_tokens: output, cache_read_input_tokens: 0 },
    },
  })}\n`

let logs: string
let data: string

beforeEach(() => {
  logs = temporaryFolder()
  data = temporaryFolder()
  vi.stubEnv('HAVERSACK_DATA_DIR', data)
})
afterEach(() => vi.unstubAllEnvs())

const write = (name: string, text: string) => writeFileSync(join(logs, name), text)
const discover = (...argv: string[]) => captureCli('discover', ...argv)
async function figures(...argv: string[]) {
  const { code, stdout, stderr } = await discover('--json', ...argv)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

describe('haversack discover', () => {
  it('counts each result and each answer once, and prices what the logs say', async () => {
    write('a.jsonl', session('s1') + answer('msg_1', 5) + answer('msg_1', 1_000_000))
    // A resumed session: the old lines once more.
    write('b.jsonl', session('s1') + answer('msg_1', 1_000_000) + session('s2', 1))
    const { sessions, results, answers, cost, unpriced, tools } = await figures('--all', logs)
    expect({ sessions, results, answers, unpriced }).toEqual({
      ...{ sessions: 2, results: 5, answers: 1, unpriced: [] },
    })
    // 3 dollars a million in, 15 out.
    expect(cost).toBeCloseTo(18)
    expect(tools.map(({ tool }: { tool: string }) => tool)).toEqual(['list_rows', 'get_rows'])
  })

  it('has the exact change in its range, and --all says what tune mine says', async () => {
    for (let n = 0; n < 6; n++) write(`${n}.jsonl`, session(`s${n}`, 2 + n))
    const sampled = await figures(logs)
    const all = await figures('--all', logs)
    const { change, low, high } = all.change
    expect({ low, high }).toEqual({ low: change, high: change })
    expect(sampled.change.low).toBeLessThanOrEqual(change)
    expect(sampled.change.high).toBeGreaterThanOrEqual(change)
    const { stdout } = await captureCli('tune', 'mine', '--json', logs)
    const { before, after } = JSON.parse(stdout).figures.results
    expect(all.tokens).toBe(before)
    expect(change).toBeCloseTo(after / before - 1, 10)
  })

  it('does not read an unchanged log again, and forgets one that is gone', async () => {
    write('a.jsonl', session('s1'))
    const before = await figures('--all', logs)
    const time = new Date(Date.now() - DAY_MS)
    utimesSync(join(logs, 'a.jsonl'), time, time)
    await figures('--all', logs)
    const text = readFileSync(join(logs, 'a.jsonl'), 'utf8')
    write('a.jsonl', 'x'.repeat(Buffer.byteLength(text)))
    utimesSync(join(logs, 'a.jsonl'), time, time)
    expect(await figures('--all', logs)).toEqual(before)
    const memory = readFileSync(join(data, 'discover.json'), 'utf8')
    expect(memory).toContain('a.jsonl')
    expect(memory).not.toContain('row 1')
  })

  it('passes over what is older than the days', async () => {
    const old = { ts_ms: Date.now() - 9 * DAY_MS }
    write('a.jsonl', claudeCodeLog('s1', [result('s1', 0, old), result('s1', 1)]))
    expect((await figures('--days', '7', logs)).results).toBe(1)
    expect((await figures(logs)).results).toBe(2)
  })

  it('shows a real result, and no control character of it', async () => {
    vi.stubEnv('COLUMNS', '60')
    const text = `\x1b[2J${rows(6)}`
    write('a.jsonl', codexLog('c1', [result('c1', 0, { model: 'gpt-5.6' }), result('c1', 1)]))
    write('b.jsonl', claudeCodeLog('s1', [result('s1', 0, { text })]))
    const { code, stdout } = await discover('--all', logs)
    expect(code).toBe(0)
    expect(stdout).toContain('One result of')
    expect(stdout).not.toContain('\x1b')
    expect(stdout).toContain('Nothing left this machine. Next: haversack run -- ')
    for (const line of stdout.split('\n')) expect([...line].length).toBeLessThanOrEqual(60)
  })

  it('says where it looked if there are no logs', async () => {
    vi.stubEnv('CLAUDE_CONFIG_DIR', logs)
    vi.stubEnv('CODEX_HOME', logs)
    vi.stubEnv('HOME', data)
    mkdirSync(join(logs, 'projects'))
    const { code, stdout, stderr } = await discover()
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`no logs of the last 30 days. Looked here:\n  ${logs}/projects\n`)
  })
})
