import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { afterAll, describe, expect, it } from 'vitest'
import { claudeCodeLog, codexLog, recordedLog } from '../../../bench/mine/log-writers.ts'
import { mineFiles } from '../../../src/cli/tune/mine-files.ts'
import { listLogs } from '../../../src/tune/logs/list-logs.ts'
import type { Mined } from '../../../src/tune/mine-log.ts'
import { captureCli } from '../../support/capture.ts'

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
  let bytes = 0
  const gone = { path: join(logs, 'gone.jsonl'), bytes: 1 }
  const { files } = listLogs([logs])
  const read = await mineFiles([gone, ...files], {
    ...{ threads, tokens: {}, key: new Uint8Array(32) },
    onMined: each => mined.push(each),
    onRead: count => {
      bytes += count
    },
  })
  expect(bytes).toBe(files.reduce((sum, file) => sum + file.bytes, 0))
  return { mined, ...read }
}

describe('tune mine', () => {
  it('gives the same for any number of threads', async () => {
    const [one, three] = await Promise.all([mineWith(1), mineWith(3)])
    expect(one.mined).toHaveLength(3 * (1 + 41 + 81))
    expect(three).toEqual(one)
    expect(one).toMatchObject({ unreadable: 1, tally: { skipped: { not_json: 9 } } })
    const partitions = new Set(one.mined.map(({ event }) => event.context_partition))
    expect(partitions).toEqual(new Set([0, 1]))
  })

  it('fails where a result cannot be taken', async () => {
    const failing = mineFiles(listLogs([logs]).files, {
      ...{ threads: 1, tokens: {}, key: new Uint8Array(32), onRead: () => {} },
      onMined: () => {
        throw new Error('the disk is full')
      },
    })
    await expect(failing).rejects.toThrow('the disk is full')
  })

  it('prints tables or JSON, and writes events', async () => {
    const out = join(folder, 'events.parquet')
    const args = ['tune', 'mine', logs, '--data', join(folder, 'data'), '--out', out]
    const written = await captureCli(...args)
    expect([written.code, written.stdout]).toEqual([0, ''])
    expect(written.stderr).toContain('passed over: not_json 9')
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(out) })
    expect(rows).toHaveLength(369)
    const { stdout } = await captureCli(...args, '--json')
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(out) })).toEqual(rows)
    expect(JSON.parse(stdout)).toMatchObject({ files: 9, study: { results: 369, sessions: 9 } })
    const one = await captureCli('tune', 'mine', join(logs, '1.jsonl'))
    expect(one.stdout).toContain('git_log')
  })

  it.each([
    [[]],
    [['analyze']],
    [['mine', '/does/not/exist']],
    [['mine', logs, '--tokenizer', 'none']],
    [['mine', logs, '--out', join(folder, 'no', 'such', 'folder')]],
  ])('refuses %j', async args => {
    const { code, stdout } = await captureCli('tune', ...args)
    expect([code, stdout]).toEqual([2, ''])
  })
})
