import { readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NO_SESSION } from '../../../../src/core/telemetry/pseudonyms.ts'
import { eventually } from '../../../support/eventually.ts'
import { factsOf } from '../../core/telemetry/events.ts'
import {
  eventsIn,
  filesIn,
  START_MS,
  summariesIn,
  TENANT,
  type TestTelemetry,
  testTelemetry,
  textIn,
} from './writer.ts'

const DAY_MS = 86_400_000
const content = (n: number) => n.toString(16).padStart(32, '0')
const session = (n: number) => n.toString(16).padStart(16, '0')

describe('the upkeep of telemetry', () => {
  it('sums up what a killed process left, once it is idle for long', async () => {
    const killed = testTelemetry({ flush_every_n: 1 })
    killed.record(TENANT, factsOf())
    killed.record(TENANT, factsOf({ session_hash: NO_SESSION }))
    await eventually(() => expect(killed.fates.written).toBe(2))
    const { folder } = killed
    for (const { path } of filesIn(folder)) {
      writeFileSync(path, '{"half a li', { flag: 'a' })
      utimesSync(path, START_MS / 1_000, START_MS / 1_000)
    }
    const next = testTelemetry({ idle_ms: 60_000 }, { folder, startMs: START_MS + 119_000 })
    await next.upkeep()
    expect(await summariesIn(folder)).toEqual([])
    next.clock.now += 2_000
    await next.upkeep()
    await next.upkeep()
    expect(await summariesIn(folder)).toMatchObject([{ total_events: 1 }])
    expect(textIn(folder)).toContain('half a li')
    expect(filesIn(folder).some(({ name }) => name.includes('open'))).toBe(false)
    await next.close()
    // The process was only slow.
    await killed.close()
    expect(await summariesIn(folder)).toHaveLength(1)
    expect(await eventsIn(folder)).toHaveLength(2)
  })

  it('overwrites nothing where a process comes back to a segment that another has closed', async () => {
    const slow = testTelemetry({ flush_every_n: 1 })
    slow.record(TENANT, factsOf())
    await eventually(() => expect(slow.fates.written).toBe(1))
    const { folder } = slow
    for (const { path } of filesIn(folder)) utimesSync(path, START_MS / 1_000, START_MS / 1_000)
    const other = testTelemetry({}, { folder, startMs: START_MS + 121_000 })
    await other.upkeep()
    expect(await summariesIn(folder)).toMatchObject([{ total_events: 1 }])
    slow.record(TENANT, factsOf({ content_sha_prefix: content(1) }))
    await slow.close()
    await other.close()
    expect(slow.fates).toEqual({ written: 2, failed: 0 })
    expect(await eventsIn(folder)).toHaveLength(2)
    const summaries = await summariesIn(folder)
    expect(summaries.map(({ total_events }) => total_events)).toEqual([1, 1])
  })

  it('leaves no summary of what was deleted while it was written', async () => {
    const telemetry = testTelemetry({ flush_every_n: 1 })
    telemetry.record(TENANT, factsOf())
    await eventually(() => expect(telemetry.fates.written).toBe(1))
    rmSync(telemetry.folder, { recursive: true })
    await telemetry.close()
    expect(await summariesIn(telemetry.folder)).toEqual([])
  })

  it('has each summary once, on a line of its own, also behind one that was written in part', async () => {
    const telemetry = testTelemetry()
    telemetry.record(TENANT, factsOf({ session_hash: session(1) }))
    telemetry.clock.now += 61_000
    await telemetry.upkeep()
    const [file] = filesIn(telemetry.folder).filter(({ path }) => path.includes('/sessions/'))
    writeFileSync(file!.path, '{"schema_ver', { flag: 'a' })
    telemetry.record(TENANT, factsOf({ session_hash: session(2) }))
    await telemetry.close()
    writeFileSync(file!.path, readFileSync(file!.path), { flag: 'a' })
    const hashes = (await summariesIn(telemetry.folder)).map(each => each.session_hash)
    expect(hashes).toEqual([session(1), session(2)])
  })

  it('deletes events after 30 days and summaries after 90, to the day', async () => {
    const telemetry = testTelemetry()
    telemetry.record(TENANT, factsOf())
    telemetry.clock.now += 60_001
    await telemetry.upkeep()
    telemetry.clock.now = START_MS + 30 * DAY_MS
    await telemetry.upkeep()
    expect(await eventsIn(telemetry.folder)).toHaveLength(1)
    telemetry.clock.now += 1
    await telemetry.upkeep()
    expect(await eventsIn(telemetry.folder)).toEqual([])
    telemetry.clock.now = Date.parse('2026-03-01T00:00:00Z') + 91 * DAY_MS
    await telemetry.upkeep()
    expect(await summariesIn(telemetry.folder)).toHaveLength(1)
    telemetry.clock.now += 1
    await telemetry.upkeep()
    expect(await summariesIn(telemetry.folder)).toEqual([])
    await telemetry.close()
  })

  it('deletes the oldest where all together are too large, and leaves what is not its own', async () => {
    // Ten events are two blocks of the disk.
    const fill = (telemetry: TestTelemetry, n: number) => {
      for (let i = 0; i < 10; i++) telemetry.record(TENANT, factsOf({ session_hash: session(n) }))
    }
    const open = testTelemetry({ flush_every_n: 10 })
    fill(open, 7)
    await eventually(() => expect(open.fates.written).toBe(10))
    const { folder } = open
    const telemetry = testTelemetry({}, { folder })
    for (const n of [6, 5, 4, 3, 2, 1]) {
      telemetry.clock.now += 100_000
      fill(telemetry, n)
    }
    await telemetry.close()
    const closed = filesIn(folder).find(({ name }) => name.startsWith(session(1)))
    const foreign = `${dirname(closed!.path)}/notes.txt`
    writeFileSync(foreign, 'x'.repeat(50_000))
    // Room for four: the file that is still written is one, and summaries take half of another.
    const max_bytes = 4 * statSync(closed!.path).blocks * 512
    const other = testTelemetry({ max_bytes }, { folder })
    await other.upkeep()
    const hashes = new Set((await eventsIn(folder)).map(({ session_hash }) => session_hash))
    expect([...hashes].sort()).toEqual([1, 2, 7].map(session))
    expect(await summariesIn(folder)).toHaveLength(6)
    expect(statSync(foreign).size).toBe(50_000)
    await open.close()
    await other.close()
  })

  it('gives summaries an eighth, so that sessions without end do not fill the disk', async () => {
    const telemetry = testTelemetry({ max_bytes: 16_384 })
    for (let n = 1; n <= 20; n++) {
      telemetry.record(TENANT, factsOf({ session_hash: session(n) }))
      telemetry.clock.now += n === 10 ? DAY_MS : 61_000
      await telemetry.upkeep()
    }
    await telemetry.close()
    const files = filesIn(telemetry.folder)
    const sessions = files.filter(({ path }) => path.includes('/sessions/'))
    expect(sessions.length).toBeLessThanOrEqual(1)
    expect(files.length - sessions.length).toBeLessThanOrEqual(4)
  })

  it('deletes what it can where something else cannot be read or written', async () => {
    const telemetry = testTelemetry()
    for (const tenant of ['acme', 'emca']) telemetry.record(tenant, factsOf())
    await telemetry.close()
    const killed = testTelemetry({ flush_every_n: 1 }, { folder: telemetry.folder })
    killed.record('acme', factsOf({ session_hash: session(1) }))
    await eventually(() => expect(killed.fates.written).toBe(1))
    const files = filesIn(telemetry.folder)
    for (const { path } of files) utimesSync(path, START_MS / 1_000, START_MS / 1_000)
    for (const { path } of files.filter(each => each.path.includes('/sessions/'))) {
      rmSync(dirname(path), { recursive: true, force: true })
      writeFileSync(dirname(path), 'in the way')
    }
    const next = testTelemetry({}, { folder: telemetry.folder, startMs: START_MS + 600_000 })
    await next.upkeep()
    expect(next.problems.map(String)).toEqual([expect.stringContaining('ENOTDIR')])
    for (const { path } of files.filter(({ name }) => !name.includes('open'))) {
      if (!path.includes('/events/')) continue
      // What is asked for it answers with an error, whoever asks.
      const loop = path.replace(/[0-9a-f]{8}\.jsonl$/, '00000000.jsonl')
      symlinkSync(loop, loop)
    }
    next.clock.now = START_MS + 31 * DAY_MS
    await next.upkeep()
    await killed.close()
    await next.close()
    expect(filesIn(telemetry.folder).filter(({ path }) => path.includes('/events/'))).toEqual([])
  })
})
