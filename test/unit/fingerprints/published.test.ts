import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpack } from 'msgpackr'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { SPANS_FILE } from '../../../src/fingerprints/folder-files.ts'
import { createPublished, entryOf, type Published } from '../../../src/fingerprints/published.ts'
import { writeFingerprintFile } from '../../../src/fingerprints/span-file.ts'
import { TeamRecords } from '../../../src/fingerprints/team-records.ts'
import { Teams } from '../../../src/fingerprints/teams.ts'
import { DAY, inlineThread, memoryRecords, NOW, row } from './rows.ts'

const root = mkdtempSync(join(tmpdir(), 'haversack-published-'))
afterAll(() => rmSync(root, { recursive: true }))

let clock: { now: number }
let patterns: string[]
let folder: string
let published: Published

beforeEach(() => {
  clock = { now: NOW }
  patterns = ['*']
  folder = mkdtempSync(join(root, 'tenant-'))
  published = createPublished({
    thread: inlineThread,
    now: () => clock.now,
    folderOf: () => folder,
    patterns: () => patterns,
  })
})

const build = (...rows: Parameters<typeof row>[0][]) =>
  writeFingerprintFile(join(folder, SPANS_FILE), rows.map(row))
const jsonOf = async () =>
  JSON.parse(Buffer.from((await published.document('acme')).json).toString())

describe('what is published', () => {
  it('is the same in both encodings, and of each endpoint by itself', async () => {
    await build({ endpoint_class: 'git' }, { endpoint_class: 'git_log' }, { endpoint_class: 'log' })
    const document = await published.document('acme')
    const whole = await jsonOf()
    expect(whole).toMatchObject({ version: 1, k: 5, window_days: 30 })
    expect(unpack(document.msgpack)).toEqual(whole)
    expect(whole.fingerprints).toHaveLength(3)
    for (const each of whole.fingerprints) {
      expect(entryOf(document, each.endpoint_class)).toEqual(each)
    }
    for (const name of ['gi', 'it_log', 'git_lo', 'og', '']) {
      expect(entryOf(document, name)).toBeNull()
    }
  })

  it('tells of no call when it was', async () => {
    await build({ last_seen_ms: NOW - DAY - 1_234 })
    const text = JSON.stringify(await jsonOf())
    const moments = text.match(/\d{13}/g)?.map(Number) ?? []
    expect(moments).toHaveLength(3)
    for (const moment of moments) expect(moment % DAY).toBe(0)
  })

  it('has what three members of a team uploaded, after a minute, and nothing of a member that left', async () => {
    const store = memoryRecords()
    const teams = new Teams({ store, thread: inlineThread, now: () => clock.now })
    published = createPublished({
      ...{ thread: inlineThread, now: () => clock.now, folderOf: () => folder },
      patterns: () => ['git*'],
      teams: () => ['clients', 'none'],
      recordsOf: (tenant, team) => new TeamRecords(store, () => clock.now).all(tenant, team),
    })
    const upload = async (member: string, tenant = 'acme') => {
      const endpoints = [row(), row({ endpoint_class: 'secret_tool' })]
      const body = Buffer.from(JSON.stringify({ member, endpoints }))
      await teams.upload(tenant, 'clients', { media: 'json', body }, null)
    }
    await build({ call_count: 7, source_sessions: 6 })
    await upload('a')
    await upload('b')
    await upload('c', 'other')
    expect((await jsonOf()).fingerprints).toMatchObject([{ call_count: 7 }])
    await upload('c')
    clock.now += 60_000
    const { fingerprints } = await jsonOf()
    expect(fingerprints).toMatchObject([{ endpoint_class: 'git_log', call_count: 187 }])
    await teams.withdraw('acme', 'clients', 'b')
    clock.now += 60_000
    expect((await jsonOf()).fingerprints).toMatchObject([{ call_count: 7 }])
  })

  it('follows the patterns and the file, after a second', async () => {
    await build({ endpoint_class: 'curl' }, { endpoint_class: 'git_log' })
    expect((await jsonOf()).fingerprints).toHaveLength(2)
    patterns = ['git_*']
    expect((await jsonOf()).fingerprints).toHaveLength(2)
    clock.now += 1_000
    expect((await jsonOf()).fingerprints).toHaveLength(1)
    await build({ endpoint_class: 'git_log' }, { endpoint_class: 'git_diff' })
    clock.now += 1_000
    expect((await jsonOf()).fingerprints).toHaveLength(2)
  })

  it('does so too where the clock was put back', async () => {
    await build({ endpoint_class: 'curl' })
    await jsonOf()
    patterns = []
    clock.now -= 60_000
    expect((await jsonOf()).fingerprints).toEqual([])
  })
})
