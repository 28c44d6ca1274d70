import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { afterAll, describe, expect, it } from 'vitest'
import { telemetryEvent } from '../../../src/core/telemetry/event.ts'
import { TELEMETRY_KEY_BYTES } from '../../../src/core/telemetry/pseudonyms.ts'
import { EventFile } from '../../../src/lab/event-file.ts'
import { noTally } from '../../../src/lab/logs/read-log.ts'
import { type Mined, type MinedLog, type MineTerms, mineLog } from '../../../src/lab/mine-log.ts'
import { Study } from '../../../src/lab/study/study.ts'
import { headline, tablesOf, toJson, toTables } from '../../../src/lab/tune/report.ts'
import { localContext } from '../../support/local-context.ts'
import { claudeCodeLog, codexLog, type SessionResult } from '../../support/log-writers.ts'

const folder = mkdtempSync(join(tmpdir(), 'mine-'))
afterAll(() => rmSync(folder, { recursive: true }))
const context = localContext()
const terms: MineTerms = {
  ...{ tokens: {}, key: new Uint8Array(TELEMETRY_KEY_BYTES), baseline: 'input' },
}

async function mineAll(content: string, more: Partial<MineTerms> = {}): Promise<MinedLog> {
  const path = join(folder, 'log.jsonl')
  writeFileSync(path, content)
  return mineLog({ path, bytes: statSync(path).size }, context, { ...terms, ...more })
}

async function mine(content: string, more: Partial<MineTerms> = {}): Promise<readonly Mined[]> {
  return (await mineAll(content, more)).mined
}

/** Nothing was mined. */
const none = {
  ...{ files: 0, other: 0, unreadable: 0, bytes: 0, tally: noTally() },
  baseline: 'input',
} as const

let calls = 0
function result(text: string, more: Partial<SessionResult> = {}): SessionResult {
  const call_id = `toolu_${++calls}`
  const plain = { tool: 'Read', args: {}, is_error: false, ts_ms: 1_000 * calls, compacted: false }
  return { ...plain, text, call_id, ...more }
}

const rows = JSON.stringify(
  Array.from({ length: 12 }, (_, i) => ({ id: i, link: `https://example.org/${i}`, ok: true })),
)
const file = Array.from({ length: 40 }, (_, i) => `${i + 1}\tline number ${i} of a file`).join('\n')

describe('mineLog', () => {
  it('gives events of telemetry, each at its place in the session', async () => {
    const log = claudeCodeLog('s', [
      result(rows, { tool: 'mcp__tracker__list_issues' }),
      result(file, { args: { file_path: '/x/y.ts' } }),
      result(file, { args: { file_path: '/x/y.ts' } }),
      result(file, { args: { file_path: '/x/y.ts' }, compacted: true }),
    ])
    const [list, first, again, fresh] = (await mine(log)) as [Mined, Mined, Mined, Mined]
    for (const { event } of [list, first, again, fresh]) telemetryEvent.parse(event)
    expect(list.event).toMatchObject({ shape: 'array_of_objects', key_stability: 1, depth: 2 })
    expect(list.event.endpoint_class).toMatch(/^mcp__p[0-9a-f]{6}__list_issues$/)
    expect(list.event.encoder_tokens_saved).toBeGreaterThan(0)
    expect(list.notation).toMatch(/^[a-z_]+@\d+$/)
    // Level 1 is of the items, level 2 of their members: a bit for `url`.
    expect(list.levels).toEqual([0, 1])
    expect(first.event).toMatchObject({ is_dedup_hit: false, context_partition: 0 })
    expect(first.event.repeat_burst).toBeUndefined()
    expect(again.event).toMatchObject({ is_dedup_hit: true, layer_used: 'L0', repeat_burst: 0 })
    expect(fresh.event).toMatchObject({ is_dedup_hit: false, context_partition: 1 })
    expect(first.event.file_path_hash).toBe(fresh.event.file_path_hash)
  })

  it('refers to nothing in the context of a sub-agent', async () => {
    const log = claudeCodeLog('s', [result(file), result(file)])
    const side = await mine(log.replaceAll('"isSidechain":false', '"isSidechain":true'))
    expect(side.map(({ event }) => [event.is_sidechain, event.is_dedup_hit])).toEqual([
      [true, false],
      [true, false],
    ])
  })

  it('keeps the context of a session if that of a sub-agent was compacted', async () => {
    const own = { session: 's', tool: 't', text: file }
    const side = { ...own, text: rows, is_sidechain: true, epoch: 1 }
    const mined = await mine([own, side, own].map(line => `${JSON.stringify(line)}\n`).join(''))
    expect(mined.map(({ event }) => event.is_dedup_hit)).toEqual([false, false, true])
  })

  it('counts a result once that a resumed session copied', async () => {
    const study = new Study()
    const session = [result(rows), result(file)]
    const kept: number[] = []
    for (const name of ['one', 'two']) {
      const mined = await mine(claudeCodeLog(name, [...session, result(`${name} ${file}`)]))
      kept.push(mined.filter(each => study.add(each)).length)
    }
    expect(kept).toEqual([3, 1])
    expect(study.result()).toMatchObject({ results: 4, copies: 2, sessions: 2 })
  })

  it('counts a result once that a fork of Codex copied with a new time', async () => {
    const study = new Study()
    const session = [result(rows), result(file)]
    const later = session.map(each => ({ ...each, ts_ms: each.ts_ms + 3_600_000 }))
    for (const each of await mine(codexLog('parent', session))) study.add(each)
    for (const each of await mine(codexLog('child', [...later, result(`more ${file}`)])))
      study.add(each)
    expect(study.result()).toMatchObject({ results: 3, copies: 2, sessions: 2 })
  })

  it('gives the same of a log that was compressed', async () => {
    // Much text in few bytes, of which the last result has a part again.
    const texts = Array.from({ length: 14 }, (_, i) => {
      return Array.from({ length: 300 }, (_, n) => `line ${n} of part ${i}, again and again;`)
    })
    const last = [...texts[1]!.slice(0, 200), 'and something that is new'].join('\n')
    const log = claudeCodeLog('s', [...texts.map(lines => result(lines.join('\n'))), result(last)])
    const path = join(folder, 'log.jsonl.zst')
    const packed = zstdCompressSync(log)
    writeFileSync(path, packed)
    const file = { path, bytes: packed.length }
    const plain = await mine(log)
    expect(plain.at(-1)?.event.is_dedup_hit).toBe(true)
    expect((await mineLog(file, context, terms)).mined).toEqual(plain)
  })

  it('takes what names no session for none', async () => {
    const study = new Study()
    const line = `${JSON.stringify({ tool: 't', text: file })}\n`
    const mined = await mine(line.repeat(2))
    for (const each of mined) study.add(each)
    expect(study.result()).toMatchObject({ results: 2, sessions: 0 })
    expect(mined.map(({ event }) => event.repeat_burst)).toEqual([undefined, undefined])
  })

  it('counts each of results that a log does not name', async () => {
    const study = new Study()
    const line = `${JSON.stringify({ session: 's', tool: 't', text: 'the same' })}\n`
    for (const each of await mine(line.repeat(3))) study.add(each)
    expect(study.result()).toMatchObject({ results: 3, copies: 0 })
  })

  it('says nothing of what is in a log', async () => {
    const secret = (name: string) => `zq${name}zq`
    const planted = {
      command: `git log ${secret('argument')}`,
      file_path: `/home/${secret('user')}/${secret('project')}/${secret('file')}.ts`,
      [secret('key')]: secret('value'),
    }
    const text = JSON.stringify([{ [secret('field')]: secret('content') }])
    const log = claudeCodeLog(secret('session'), [
      result(text, { tool: 'Bash', args: planted, call_id: secret('call') }),
      result(secret('prose'), { tool: `mcp__${secret('server')}__${secret('verb')}` }),
      result(`${secret('prose')} `.repeat(80), { tool: secret('tool'), is_error: true }),
    ])
    const others = log
      .replaceAll('/srv/project', secret('cwd'))
      .replaceAll('"main"', `"${secret('branch')}"`)
    const torn = `{"type":"user","cwd":"${secret('torn')}`
    const { mined, tally } = await mineAll(`${others}${torn}`)
    expect(mined).toHaveLength(3)
    expect(tally.skipped.torn).toBe(1)
    const study = new Study()
    const path = join(folder, 'secrets.parquet')
    const events = new EventFile(path)
    for (const each of mined) {
      study.add(each)
      events.add(each)
    }
    events.finish()
    const minings = { ...none, files: 1, bytes: 1, tally, study: study.result() }
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path) })
    const said = [
      ...[JSON.stringify(mined), toJson(minings), toTables(minings)],
      JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
    ]
    for (const text of said) expect(text.toLowerCase()).not.toMatch(/zq[a-z]+zq/)
    expect(said[2]).toContain('git_log')
  })
})

describe('EventFile', () => {
  it('writes Parquet that other readers open, with the same rows', async () => {
    const mined = await mine(
      claudeCodeLog('s', [
        result(rows, { tool: 'list', args: { path: '/a' } }),
        result('short', { tool: 'Bash', args: { command: 'ls' } }),
        result('| a | b |\n|---|---|\n| 1 | 2 |', { tool: 'table' }),
      ]),
    )
    const path = join(folder, 'events.parquet')
    const events = new EventFile(path)
    for (const each of mined) events.add(each)
    expect(() => statSync(path)).toThrow('ENOENT')
    events.finish()
    const own = await parquetReadObjects({ file: await asyncBufferFromFile(path) })
    expect(own.map(plain)).toEqual(
      mined.map(({ event, notation }) => plain({ ...event, notation })),
    )
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const reader = await connection.runAndReadAll(`SELECT * FROM read_parquet('${path}')`)
    expect(reader.getRowObjectsJson().map(plain)).toEqual(own.map(plain))
    connection.closeSync()
    instance.closeSync()
  })

  it('replaces nothing but events', () => {
    const path = join(folder, 'precious')
    for (const content of ['{"type":"user"}\n', 'PAR']) {
      writeFileSync(path, content)
      expect(() => new EventFile(path)).toThrow('no Parquet file')
      expect(readFileSync(path, 'utf8')).toBe(content)
    }
    expect(() => new EventFile(folder)).toThrow('no Parquet file')
    for (const content of ['', 'PAR1 …']) {
      writeFileSync(path, content)
      new EventFile(path).finish()
      expect(readFileSync(path, 'latin1')).toMatch(/^PAR1.*PAR1$/s)
    }
  })

  it('leaves nothing behind where it is given up', async () => {
    const path = join(folder, 'none.parquet')
    const events = new EventFile(path)
    for (const each of await mine(claudeCodeLog('s', [result('x')]))) events.add(each)
    events.discard()
    expect(() => statSync(path)).toThrow('ENOENT')
    expect(() => new EventFile(join(folder, 'no', 'folder'))).toThrow('ENOENT')
  })
})

/** Without what is absent, and with whole numbers as such. */
function plain(row: object): Record<string, unknown> {
  const present = Object.entries(row).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(
    present.map(([name, value]) => [name, name === 'ts_ms' ? Number(value) : value]),
  )
}

describe('the report', () => {
  it('has savings of another baseline, if one is named', async () => {
    const log = claudeCodeLog('s', [result(rows), result(rows)])
    const sums = async (baseline: MineTerms['baseline']) => {
      const study = new Study()
      for (const each of await mine(log, { baseline })) study.add(each)
      return study.result().sums
    }
    const [plain, other] = [await sums('input'), await sums('json_pretty')]
    const pretty = JSON.stringify(JSON.parse(rows), null, 2)
    const tokens = context.counters.get('openai_o200k').count(pretty)
    expect([other.results, other.baseline, other.final]).toEqual([2, 2 * tokens, plain.final])
    const { l0Baseline, l0Final, encoderSaved } = other
    expect(l0Baseline - l0Final + encoderSaved).toBe(2 * tokens - plain.final)
    const study = new Study().result()
    expect(toJson({ ...none, study, baseline: 'toon' })).toContain('"baseline":"toon"')
    expect(toJson({ ...none, study })).toContain('"baseline":"raw"')
    expect(headline(study, 'toon')).toContain('shares are of TOON for results that are JSON')
  })

  it('has every table, also of nothing', async () => {
    const study = new Study()
    expect(toTables({ ...none, study: study.result() })).toMatch(/^No tool results .*\n$/)
    for (const { rows: lines, header } of tablesOf(study.result())) {
      for (const line of lines) expect(line).toHaveLength(header.length)
    }
    for (const each of await mine(claudeCodeLog('s', [result(rows), result(file), result(file)])))
      study.add(each)
    const tables = tablesOf(study.result())
    for (const { header, rows: lines } of tables) {
      for (const line of lines) expect(line).toHaveLength(header.length)
    }
    expect(tables.find(({ title }) => title === 'Shapes')?.rows).toHaveLength(2)
    const { sums, encoded } = study.result()
    expect(sums.l0Results).toBe(1)
    expect(encoded.histogram.reduce((sum, { results }) => sum + results, 0)).toBe(2)
  })
})
