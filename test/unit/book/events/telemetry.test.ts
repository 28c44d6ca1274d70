import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { noTally } from '../../../../src/book/events/read-lines.ts'
import { createPseudonyms, NO_SESSION } from '../../../../src/core/telemetry/pseudonyms.ts'
import { eventually } from '../../../support/eventually.ts'
import { factsOf } from '../../core/telemetry/events.ts'
import { eventsIn, filesIn, START_MS, summariesIn, TENANT, testTelemetry } from './writer.ts'

const DAY_MS = 86_400_000
const content = (n: number) => n.toString(16).padStart(32, '0')
const session = (n: number) => n.toString(16).padStart(16, '0')

describe('telemetry', () => {
  it('has a file a session, written every n events', async () => {
    const telemetry = testTelemetry({ flush_every_n: 3 })
    for (let i = 0; i < 3; i++) telemetry.record(TENANT, factsOf())
    telemetry.record(TENANT, factsOf({ session_hash: session(2) }))
    await eventually(() => expect(telemetry.fates.written).toBe(3))
    const [file, ...others] = filesIn(telemetry.folder)
    expect(others).toEqual([])
    expect(file?.name).toMatch(/^0123456789abcdef-[0-9a-f]{12}-[0-9a-f]{8}\.open\.jsonl$/)
    expect(statSync(file!.path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file!.path)).mode & 0o777).toBe(0o700)
    await telemetry.close()
    const events = await eventsIn(telemetry.folder)
    expect(events).toHaveLength(4)
    expect(events.map(({ repeat_burst }) => repeat_burst)).toEqual([undefined, undefined, 0, 0])
    expect(events[2]).toEqual({
      schema_version: 1,
      ...factsOf(),
      ts_ms: START_MS,
      sample_rate_applied: 1,
      repeat_burst: 0,
    })
    expect(filesIn(telemetry.folder).some(({ name }) => name.includes('open'))).toBe(false)
  })

  it('sums a session up when it ends, and once more when it goes on', async () => {
    const telemetry = testTelemetry({ idle_ms: 60_000 })
    telemetry.record(TENANT, factsOf())
    telemetry.clock.now += 1_000
    telemetry.record(TENANT, factsOf({ content_sha_prefix: content(1) }))
    telemetry.clock.now += 59_000
    await telemetry.upkeep()
    expect(await summariesIn(telemetry.folder)).toEqual([])
    telemetry.clock.now += 1_000
    await telemetry.upkeep()
    expect(await summariesIn(telemetry.folder)).toMatchObject([
      { total_events: 2, duration_sec: 1, ended_at_ms: START_MS + 1_000 },
    ])
    telemetry.record(TENANT, factsOf())
    await telemetry.close()
    const summaries = await summariesIn(telemetry.folder)
    expect(summaries.map(({ total_events }) => total_events)).toEqual([2, 1])
  })

  it('counts no repeat of a call that was only offered', async () => {
    const telemetry = testTelemetry()
    telemetry.record(TENANT, factsOf({ enricher_prefetched: true }))
    telemetry.record(TENANT, factsOf())
    telemetry.record(TENANT, factsOf({ enricher_decline_reason: 'budget' }))
    telemetry.record(TENANT, factsOf())
    await telemetry.close()
    const events = await eventsIn(telemetry.folder)
    expect(events.map(({ repeat_burst }) => repeat_burst)).toEqual([
      undefined,
      undefined,
      undefined,
      0,
    ])
  })

  it('ends a session that is closed, whose repeats begin anew', async () => {
    const telemetry = testTelemetry()
    const { session: hashOf } = createPseudonyms(new Uint8Array(32), TENANT)
    const facts = factsOf({ session_hash: hashOf('mine') })
    telemetry.record(TENANT, facts)
    telemetry.end(TENANT, 'other')
    telemetry.end('emca', 'mine')
    telemetry.end(TENANT, 'mine')
    await eventually(async () => expect(await summariesIn(telemetry.folder)).toHaveLength(1))
    telemetry.record(TENANT, facts)
    await telemetry.close()
    const events = await eventsIn(telemetry.folder)
    expect(events.map(({ repeat_burst }) => repeat_burst)).toEqual([undefined, undefined])
    expect(await summariesIn(telemetry.folder)).toHaveLength(2)
  })

  it('ends idle sessions also behind one that was used before the clock was set back', async () => {
    const telemetry = testTelemetry({ idle_ms: 60_000 })
    telemetry.clock.now += DAY_MS
    telemetry.record(TENANT, factsOf({ session_hash: session(1) }))
    telemetry.clock.now -= DAY_MS
    telemetry.record(TENANT, factsOf({ session_hash: session(2) }))
    telemetry.clock.now += 61_000
    await telemetry.upkeep()
    const hashes = (await summariesIn(telemetry.folder)).map(each => each.session_hash)
    expect(hashes).toEqual([session(2)])
    await telemetry.close()
  })

  it('counts a retry once, and results of no session without looking back', async () => {
    const telemetry = testTelemetry()
    const call = factsOf({ tool_call_id_hash: '00000001' })
    const none = factsOf({ session_hash: NO_SESSION })
    for (const facts of [call, call, none, none]) telemetry.record(TENANT, facts)
    await telemetry.close()
    expect(telemetry.fates.written).toBe(3)
    const events = await eventsIn(telemetry.folder)
    expect(events.map(({ session_hash, repeat_burst }) => [session_hash, repeat_burst])).toEqual([
      [NO_SESSION, undefined],
      [NO_SESSION, undefined],
      [call.session_hash, undefined],
    ])
    expect(await summariesIn(telemetry.folder)).toHaveLength(1)
  })

  it('looks back at what the session has seen, which is not what its sub-agents have', async () => {
    const telemetry = testTelemetry()
    const own = { context_partition: 1 }
    const other = {
      is_sidechain: true,
      content_sha_prefix: content(1),
      tool_call_id_hash: '00000001',
    }
    for (const facts of [
      own,
      other,
      own,
      other,
      { ...own, ...other, is_sidechain: false, tool_call_id_hash: '00000002' },
    ]) {
      telemetry.record(TENANT, factsOf(facts))
    }
    await telemetry.close()
    const events = await eventsIn(telemetry.folder)
    expect(events.map(({ is_sidechain, repeat_burst }) => [is_sidechain, repeat_burst])).toEqual([
      [false, undefined],
      [true, undefined],
      [false, 0],
      [false, undefined],
    ])
  })

  it('writes a sample with its rate, which looks back at what was not written', async () => {
    const draws = [0.1, 0.9, 0.2, 0.3]
    const telemetry = testTelemetry({ sample_rate: 0.25 }, { random: () => draws.shift() ?? 1 })
    for (let i = 0; i < 4; i++) telemetry.record(TENANT, factsOf())
    await telemetry.close()
    const events = await eventsIn(telemetry.folder)
    expect(
      events.map(({ sample_rate_applied, repeat_burst }) => [sample_rate_applied, repeat_burst]),
    ).toEqual([
      [0.25, undefined],
      [0.25, 0],
    ])
    expect((await summariesIn(telemetry.folder))[0]?.sample_rate_applied).toBe(0.25)
  })

  it('goes on in another file beyond a size or a day, each with its summary', async () => {
    const telemetry = testTelemetry({ rotate_bytes: 2_000, flush_every_n: 1 })
    for (let i = 0; i < 12; i++) {
      telemetry.record(TENANT, factsOf())
      await eventually(() => expect(telemetry.fates.written).toBe(i + 1))
    }
    const sizes = filesIn(telemetry.folder).filter(({ path }) => path.includes('events'))
    expect(sizes.length).toBeGreaterThanOrEqual(3)
    for (const { bytes } of sizes) expect(bytes).toBeLessThan(3_000)
    await telemetry.close()
    const summaries = await summariesIn(telemetry.folder)
    expect(summaries.reduce((sum, { total_events }) => sum + total_events, 0)).toBe(12)

    const slow = testTelemetry({ flush_every_n: 1 })
    slow.record(TENANT, factsOf())
    await eventually(() => expect(slow.fates.written).toBe(1))
    slow.clock.now += DAY_MS
    slow.record(TENANT, factsOf())
    await eventually(() => expect(slow.fates.written).toBe(2))
    slow.record(TENANT, factsOf())
    await slow.close()
    expect((await summariesIn(slow.folder)).map(({ total_events }) => total_events)).toEqual([2, 1])
  })

  it('keeps tenants apart, under names that say nothing', async () => {
    const telemetry = testTelemetry()
    telemetry.record('acme', factsOf())
    telemetry.record('../../emca', factsOf())
    await telemetry.close()
    const paths = filesIn(telemetry.folder).map(({ path }) => path.slice(telemetry.folder.length))
    expect(new Set(paths.map(path => path.split('/')[1])).size).toBe(2)
    for (const path of paths)
      expect(path).toMatch(/^\/[0-9a-f]{16}\/(events|sessions)\/[0-9a-f-]+\.jsonl$/)
  })

  it('loses no line behind one that was written in part', async () => {
    const telemetry = testTelemetry({ flush_every_n: 1 })
    telemetry.record(TENANT, factsOf())
    await eventually(() => expect(telemetry.fates.written).toBe(1))
    const [file] = filesIn(telemetry.folder)
    const text = readFileSync(file!.path)
    rmSync(file!.path)
    mkdirSync(file!.path)
    telemetry.record(TENANT, factsOf())
    await eventually(() => expect(telemetry.fates.failed).toBe(1))
    rmdirSync(file!.path)
    writeFileSync(file!.path, Buffer.concat([text, text.subarray(0, 100)]))
    telemetry.record(TENANT, factsOf())
    telemetry.record(TENANT, factsOf())
    await telemetry.close()
    const tally = noTally()
    expect(await eventsIn(telemetry.folder, tally)).toHaveLength(3)
    expect(tally.skipped.malformed).toBe(1)
    expect(telemetry.problems).toHaveLength(1)
  })

  it('ends the session that was idle for the longest where there are too many', async () => {
    const telemetry = testTelemetry()
    // So many that none waits for others to be looked at.
    for (let i = 1; i <= 1_026; i++) telemetry.record(TENANT, factsOf({ session_hash: session(i) }))
    await eventually(() => expect(telemetry.fates.written).toBe(2))
    const ended = (await summariesIn(telemetry.folder)).map(({ session_hash }) => session_hash)
    expect(ended).toEqual([session(1), session(2)])
    await telemetry.close()
    expect(await summariesIn(telemetry.folder)).toHaveLength(1_026)
  })

  it('says when a response came, however long it waits to be looked at', async () => {
    const telemetry = testTelemetry({ flush_every_n: 100 })
    for (let i = 0; i < 30; i++) {
      telemetry.record(TENANT, factsOf({ content_sha_prefix: content(i) }))
      telemetry.clock.now += 1
    }
    await telemetry.close()
    const times = (await eventsIn(telemetry.folder)).map(({ ts_ms }) => ts_ms - START_MS)
    expect(times).toEqual(Array.from({ length: 30 }, (_, i) => i))
  })

  it('goes on where the folder was deleted, and where it could not be written', async () => {
    const telemetry = testTelemetry({ flush_every_n: 1 })
    telemetry.record(TENANT, factsOf())
    await eventually(() => expect(telemetry.fates.written).toBe(1))
    rmSync(telemetry.folder, { recursive: true })
    telemetry.record(TENANT, factsOf())
    await eventually(() => expect(telemetry.fates.written).toBe(2))
    rmSync(telemetry.folder, { recursive: true })
    writeFileSync(telemetry.folder, 'in the way')
    telemetry.record(TENANT, factsOf())
    telemetry.record(TENANT, factsOf())
    await eventually(() => expect(telemetry.fates.failed).toBe(2))
    // Told once.
    expect(telemetry.problems).toHaveLength(1)
    rmSync(telemetry.folder)
    telemetry.record(TENANT, factsOf())
    await telemetry.close()
    expect(telemetry.fates).toEqual({ written: 3, failed: 2 })
    expect(await eventsIn(telemetry.folder)).toHaveLength(1)
  })
})
