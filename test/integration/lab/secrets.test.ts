import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { afterAll, describe, expect, it } from 'vitest'
import { captureCli } from '../../support/capture.ts'
import { FULL_RUNS, SEED } from '../../support/runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'mine-'))
afterAll(() => rmSync(folder, { recursive: true }))

const timestamp = '2026-01-02T03:04:05.678Z'
const long = 'words that a tool gave '.repeat(20)
const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'git log -1' } }
const mcp = { type: 'tool_use', id: 'toolu_2', name: 'mcp__server__list_issues', input: { q: 'x' } }
const gave = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content })
const claude = (type: string, content: unknown, more: object = {}) => {
  const place = {
    cwd: '/home/u/p',
    gitBranch: 'main',
    version: '2.1.40',
    uuid: 'u',
    parentUuid: 'v',
  }
  return { type, sessionId: 's', timestamp, ...place, message: { role: type, content }, ...more }
}
const item = (payload: object) => ({ timestamp, type: 'response_item', payload })

/** One of each kind of line that is known of both agents. */
const KINDS: readonly object[] = [
  claude('assistant', [call, mcp, { type: 'text', text: 'done' }]),
  claude('user', [gave('toolu_1', long)], { toolUseResult: { stdout: 'x', filePath: '/a/b' } }),
  claude('user', [gave('toolu_2', [{ type: 'text', text: '[{"id":1,"url":"https://x.y"}]' }])]),
  claude('user', [gave('toolu_3', long)], { isSidechain: true, agentId: 'a7' }),
  claude('user', 'a prompt', { forkedFrom: { sessionId: 's0', messageUuid: 'm' } }),
  claude('user', 'a summary', { isCompactSummary: true }),
  { type: 'system', subtype: 'compact_boundary', sessionId: 's', content: 'Compacted', timestamp },
  { type: 'summary', summary: 'a title', leafUuid: 'u' },
  {
    type: 'attachment',
    sessionId: 's',
    attachment: { type: 'file', filename: '/a', content: 'x' },
  },
  { type: 'progress', data: { type: 'agent_progress', message: { content: [gave('t', 'x')] } } },
  { type: 'queue-operation', operation: 'enqueue', content: 'x', sessionId: 's', timestamp },
  { type: 'file-history-snapshot', snapshot: { trackedFileBackups: { '/a': { name: 'x' } } } },
  {
    timestamp,
    type: 'session_meta',
    payload: { id: 's', cwd: '/p', source: 'cli', git: { branch: 'b' } },
  },
  { timestamp, type: 'turn_context', payload: { cwd: '/p', model: 'm' } },
  { id: 's', timestamp, instructions: 'x', git: { branch: 'b' } },
  item({
    type: 'function_call',
    name: 'shell',
    namespace: 'mcp__s',
    arguments: '{"command":["ls"]}',
    call_id: 'call_c',
  }),
  item({ type: 'function_call_output', call_id: 'call_c', output: long }),
  item({ type: 'custom_tool_call', name: 'exec', input: 'git log', call_id: 'call_d' }),
  item({
    type: 'custom_tool_call_output',
    call_id: 'call_d',
    output: [{ type: 'input_text', text: long }],
  }),
  item({
    type: 'local_shell_call',
    call_id: 'call_e',
    action: { type: 'exec', command: ['ls', '-l'] },
  }),
  item({ type: 'web_search_call', action: { type: 'search', query: 'x' } }),
  {
    timestamp,
    type: 'event_msg',
    payload: { type: 'exec_command_end', call_id: 'call_c', stdout: 'x' },
  },
  { timestamp, type: 'compacted', payload: { message: 'x' } },
  {
    session: 's',
    tool: 'Read',
    args: { file_path: '/a/b.ts' },
    text: long,
    ts: timestamp,
    call_id: 'call_f',
  },
]

/** A short run plants secrets in the first kind and in every twelfth, other ones each time. */
const isLookedAt = (index: number) => FULL_RUNS || index === 0 || index % 12 === SEED % 12

const FIRST = 'Zqsecretfilezq.jsonl'
let secrets = 0
const secret = () => `Zqsecret${++secrets}zq`

/**
 * The value with a secret in one place after the other: behind each text, instead of each other
 * scalar, before each name.
 */
function* planted(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      for (const inner of planted(each)) yield value.with(index, inner)
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      yield { ...value, [secret() + name]: each }
      for (const inner of planted(each)) yield { ...value, [name]: inner }
    }
  } else yield typeof value === 'string' ? `${value} ${secret()}` : secret()
}

describe('tune mine', () => {
  it('says nothing of any text, name or number of any line, nor of where it stood', async () => {
    const place = join(folder, secret(), secret())
    mkdirSync(place, { recursive: true })
    for (const [index, kind] of KINDS.entries()) {
      if (!isLookedAt(index)) continue
      // With what was before it, so that calls have results and results calls; none is a copy of
      // another.
      const parts = [...planted(kind)].map((each, n) => {
        const lines = [...KINDS.slice(0, index), each, ...KINDS.slice(index + 1)]
        const written = lines.map(line => `${JSON.stringify(line)}\n`).join('')
        return written.replaceAll(/"(toolu|call)_/g, `"$1_${index}_${n}_`)
      })
      const text = parts.join('')
      writeFileSync(
        join(place, index === 0 ? FIRST : `${index} ${secret()}.jsonl`),
        `${text}{"torn":"${secret()}`,
      )
    }
    writeFileSync(join(place, `${secret()}.jsonl.gz`), secret())
    const out = join(folder, 'events.parquet')
    const data = join(folder, 'data')
    const json = await captureCli('tune', 'mine', folder, '--data', data, '--out', out, '--json')
    const tables = await captureCli('tune', 'mine', join(place, FIRST))
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(out) })
    const told = JSON.stringify([json, tables, rows], (_, value) => {
      return typeof value === 'bigint' ? Number(value) : value
    })
    expect([json.code, tables.code]).toEqual([0, 0])
    expect(json.stderr).toContain('1 files or folders that cannot be read')
    expect(secrets).toBeGreaterThan(FULL_RUNS ? 250 : 25)
    expect(rows.length).toBeGreaterThan(4 * secrets)
    expect(told).toContain('git_log')
    expect(told.toLowerCase()).not.toContain('zqsecret')
  })
})
