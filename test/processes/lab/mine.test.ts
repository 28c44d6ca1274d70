import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { listLogs } from '../../../src/lab/logs/list-logs.ts'
import type { Mined } from '../../../src/lab/mine-log.ts'
import { mineLogs } from '../../../src/lab/tune/mine-logs.ts'
import { captureCli } from '../../support/capture.ts'
import { claudeCodeLog, codexLog, recordedLog } from '../../support/log-writers.ts'

const folder = mkdtempSync(join(tmpdir(), 'mine-'))
afterAll(() => rmSync(folder, { recursive: true }))

const logs = join(folder, 'logs')
mkdirSync(join(logs, 'deep'), { recursive: true })
const writers = [claudeCodeLog, codexLog, recordedLog]
for (let log = 0; log < 9; log++) {
  const results = Array.from({ length: 1 + 40 * (log % 3) }, (_, i) => ({
    tool: 'Bash',
    args: { command: i % 2 === 0 ? 'git log' : 'cargo test' },
    text: `${log} ${i % 7} ${'some output that is long enough to be referred to '.repeat(6)}`,
    is_error: false,
    call_id: `${log}_${i}`,
    ts_ms: 1_700_000_000_000 + i,
    compacted: i === 20,
  }))
  const text = writers[log % 3]!(`session ${log}`, results)
  writeFileSync(join(logs, log % 2 === 0 ? 'deep' : '.', `${log}.jsonl`), `${text}not JSON\n`)
}

async function mineWith(threads: number) {
  const mined: Mined[] = []
  const { files, ...others } = listLogs([logs])
  const list = { ...others, files: [{ path: join(logs, 'gone.jsonl'), bytes: 1 }, ...files] }
  const minings = await mineLogs(list, {
    ...{ threads, tokens: {}, key: new Uint8Array(32), baseline: 'input' },
    file: { add: each => mined.push(each) },
  })
  return { mined, minings }
}

describe('tune mine', () => {
  it('gives the same for any number of threads', async () => {
    const [one, three] = await Promise.all([mineWith(1), mineWith(3)])
    expect(one.mined).toHaveLength(3 * (1 + 41 + 81))
    expect(three).toEqual(one)
    expect(one.minings).toMatchObject({ unreadable: 1, tally: { skipped: { not_json: 9 } } })
    const partitions = new Set(one.mined.map(({ event }) => event.context_partition))
    expect(partitions).toEqual(new Set([0, 1]))
  })

  it('fails where a result cannot be taken', async () => {
    const failing = mineLogs(listLogs([logs]), {
      ...{ threads: 1, tokens: {}, key: new Uint8Array(32), baseline: 'input' },
      file: {
        add() {
          throw new Error('the disk is full')
        },
      },
    })
    await expect(failing).rejects.toThrow('the disk is full')
  })

  it('prints tables or JSON, and writes events', async () => {
    const out = join(folder, 'events.parquet')
    const args = ['tune', 'mine', logs, '--data', join(folder, 'data'), '--out', out]
    const written = await captureCli(...args)
    expect([written.code, written.stdout]).toEqual([0, ''])
    expect(written.stderr).toContain('369 results of 9 sessions, in ')
    expect(written.stderr).toContain('9 lines passed over: not_json 9')
    expect(written.stderr).toContain(`events written to ${out}`)
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(out) })
    expect(rows).toHaveLength(369)
    const { stdout } = await captureCli(...args, '--json')
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(out) })).toEqual(rows)
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ baseline: 'raw', files: 9 },
      study: { results: 369, sessions: 9 },
    })
    const one = await captureCli('tune', 'mine', join(logs, '1.jsonl'))
    expect(one.stdout).toContain('git_log')
  })

  it('reads where agents keep their logs, by their own variables', async () => {
    const home = join(folder, 'home')
    const write = (path: string, id: string) => {
      mkdirSync(join(home, path, 'deep'), { recursive: true })
      const result = { session: id, tool: 't', text: id }
      writeFileSync(join(home, path, 'deep', `${id}.jsonl`), JSON.stringify(result))
    }
    const places = ['.claude/projects', '.codex/sessions', '.codex/archived_sessions']
    for (const place of [...places, '.config/claude/projects']) write(place, `home ${place.length}`)
    write('elsewhere/projects', 'claude')
    write('other/sessions', 'codex')
    vi.stubEnv('HOME', home).stubEnv('CLAUDE_CONFIG_DIR', '').stubEnv('CODEX_HOME', '')
    const mined = async () => (await captureCli('tune', 'mine')).stderr
    expect(await mined()).toContain('4 results of 4 sessions, in 4 lines of 4 logs')
    vi.stubEnv('CLAUDE_CONFIG_DIR', join(home, 'elsewhere'))
    vi.stubEnv('CODEX_HOME', join(home, 'other'))
    expect(await mined()).toContain('3 results of 3 sessions, in 3 lines of 3 logs')
    vi.stubEnv('HOME', join(home, 'nobody')).stubEnv('CODEX_HOME', '/nobody')
    vi.stubEnv('CLAUDE_CONFIG_DIR', '/nobody')
    expect(await mined()).toContain('there is none of /nobody/projects, ')
    vi.unstubAllEnvs()
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing behind on %s', async signal => {
    const place = join(folder, signal)
    mkdirSync(place)
    const long = join(place, 'long.jsonl')
    writeFileSync(
      long,
      `${JSON.stringify({ tool: 't', text: 'some words '.repeat(90) })}\n`.repeat(4_000),
    )
    const cli = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url))
    const out = join(place, 'events.parquet')
    const child = spawn(process.execPath, [cli, 'tune', 'mine', long, '--out', out], {
      env: { ...process.env, HAVERSACK_DATA_DIR: join(folder, 'data') },
    })
    const ended = once(child, 'exit')
    // From then on there is something to leave behind.
    for await (const { filename } of watch(place)) if (filename?.endsWith('.tmp')) break
    child.kill(signal)
    expect(await ended).toEqual([null, signal])
    expect(readdirSync(place)).toEqual(['long.jsonl'])
  })

  it('writes over no log', async () => {
    const log = join(folder, 'log.jsonl')
    writeFileSync(log, '{"tool":"t","text":"x"}\n')
    const { code, stderr } = await captureCli('tune', 'mine', log, '--out', log)
    expect([code, stderr]).toEqual([2, expect.stringContaining('no Parquet file')])
    expect(readFileSync(log, 'utf8')).toBe('{"tool":"t","text":"x"}\n')
  })

  it.each([
    [[]],
    [['analyze', '/does/not/exist']],
    [['mine', '/does/not/exist']],
    [['mine', logs, '--tokenizer', 'none']],
    [['mine', logs, '--out', join(folder, 'no', 'such', 'folder')]],
    [['mine', logs, '--out', '']],
  ])('refuses %j', async args => {
    const { code, stdout } = await captureCli('tune', ...args)
    expect([code, stdout]).toEqual([2, ''])
  })
})
