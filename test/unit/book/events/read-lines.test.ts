import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { noTally, readLines } from '../../../../src/book/events/read-lines.ts'
import { readEvents, readSummaries, tenantsOf } from '../../../../src/book/events/read-telemetry.ts'
import type { TelemetryEvent } from '../../../../src/core/telemetry/event.ts'
import { parseEventLine } from '../../../../src/core/telemetry/parse-line.ts'
import { eventually } from '../../../support/eventually.ts'
import { eventOf, factsOf } from '../../core/telemetry/events.ts'
import { eventsIn, TENANT, temporaryFolder, testTelemetry } from './writer.ts'

const good = JSON.stringify(eventOf())

async function read(text: string | Buffer) {
  const file = join(temporaryFolder(), 'a.jsonl')
  writeFileSync(file, text)
  const tally = noTally()
  const events: TelemetryEvent[] = []
  for await (const batch of readLines(file, parseEventLine, tally)) events.push(...batch)
  expect(events).toHaveLength(tally.read)
  return tally
}

describe('reading telemetry', () => {
  it.each([
    ['malformed', '{"schema_version":1,'],
    ['malformed', '"text"'],
    ['malformed', 'null'],
    ['malformed', '\0\0\0\0'],
    ['version', good.replace('"schema_version":1', '"schema_version":2')],
    ['version', good.replace('"schema_version":1', '"schema_version":"1"')],
    ['version', '[]'],
    ['invalid', JSON.stringify(eventOf({ sample_rate_applied: 0 }))],
    ['invalid', JSON.stringify(eventOf({ sample_rate_applied: 1.5 }))],
    ['invalid', JSON.stringify(eventOf({ sample_rate_applied: 1e-300 }))],
    ['invalid', JSON.stringify(eventOf({ sample_rate_applied: Number.NaN }))],
    ['invalid', JSON.stringify(eventOf({ tokens_baseline: -100, tokens_final: -150 }))],
    ['invalid', JSON.stringify(eventOf({ tokens_final: 49 }))],
    ['invalid', good.replace('"response_chars":400', '"response_chars":1e400')],
    ['invalid', JSON.stringify(eventOf({ response_chars: 1.5 }))],
    ['invalid', JSON.stringify(eventOf({ session_hash: '../../../etc/pass' }))],
    ['invalid', JSON.stringify(eventOf({ endpoint_class: 'a b' }))],
    ['invalid', JSON.stringify(eventOf({ key_stability: 2 }))],
    ['invalid', JSON.stringify(eventOf({ ts_ms: -1 }))],
    ['invalid', '{"schema_version":1}'],
    ['too_long', JSON.stringify({ schema_version: 1, x: 'x'.repeat(70_000) })],
  ] as const)('counts a line that is %s, and goes on: %s', async (why, line) => {
    const { read: count, skipped } = await read(`${good}\n${line}\n\n${good}\n`)
    expect(count).toBe(2)
    expect(skipped).toEqual({ ...noTally().skipped, [why]: 1 })
  })

  it('takes a last line without its end where it is whole', async () => {
    expect(await read(`${good}\n${good}`)).toMatchObject({ read: 2 })
    const torn = await read(`${good}\n${good.slice(0, 100)}`)
    expect(torn).toMatchObject({ read: 1, skipped: { torn: 1, malformed: 0 } })
    expect(await read('')).toMatchObject({ read: 0, files: 1 })
  })

  it('takes fields that later versions add', async () => {
    expect(await read(good.replace('{', '{"later":1,'))).toMatchObject({ read: 1 })
    const reserved = eventOf({
      enricher_prefetched: true,
      enricher_predicted_cost_tokens: 3,
      enricher_decline_reason: 'budget',
      cited_in_next_n_turns: false,
    })
    expect(parseEventLine(JSON.stringify(reserved))).toEqual({ ok: true, value: reserved })
  })

  it('passes over a huge line, at the end too', async () => {
    const huge = 'é'.repeat(1 << 20)
    const tally = await read(`${good}\n${huge}\n${good}\n${huge}`)
    expect(tally).toMatchObject({ read: 2, skipped: { too_long: 2, torn: 0 } })
  })

  it('finds a segment that is closed while another one is read', async () => {
    const telemetry = testTelemetry({ flush_every_n: 1 })
    for (const digit of '12') {
      telemetry.record(TENANT, factsOf({ session_hash: digit.repeat(16) }))
    }
    await eventually(() => expect(telemetry.fates.written).toBe(2))
    const tally = noTally()
    const batches = readEvents(telemetry.folder, {}, tally)
    expect((await batches.next()).value).toHaveLength(1)
    await telemetry.close()
    expect((await batches.next()).value).toHaveLength(1)
    expect(await batches.next()).toMatchObject({ done: true })
    expect(tally).toEqual({ ...noTally(), files: 2, read: 2 })
  })

  it('finds what is of a tenant, and not older than asked for', async () => {
    const telemetry = testTelemetry()
    for (const tenant of [TENANT, 'other']) {
      telemetry.clock.now += 1_000
      telemetry.record(tenant, factsOf())
    }
    await telemetry.close()
    const { folder, clock } = telemetry
    mkdirSync(join(folder, 'notes'))
    const all = await tenantsOf(folder)
    expect(all).toHaveLength(2)
    for (const read of [readEvents, readSummaries]) {
      const count = async (options: object) => {
        let found = 0
        for await (const batch of read(folder, options, noTally())) found += batch.length
        return found
      }
      expect(await count({ sinceMs: clock.now })).toBe(1)
      expect(await count({ sinceMs: clock.now + 1 })).toBe(0)
      const counts = all.map(tenant => count({ tenant, sinceMs: clock.now }))
      expect((await Promise.all(counts)).toSorted()).toEqual([0, 1])
    }
  })

  it('counts files that cannot be read, and finds no folder empty', async () => {
    const folder = temporaryFolder()
    expect(await eventsIn(join(folder, 'none'))).toEqual([])
    const events = join(folder, '0'.repeat(16), 'events')
    mkdirSync(events, { recursive: true })
    const name = `${'0'.repeat(16)}-${'0'.repeat(12)}-00000000.jsonl`
    mkdirSync(join(events, name))
    writeFileSync(join(events, name.replace('-0', '-1')), good)
    const tally = noTally()
    expect(await eventsIn(folder, tally)).toHaveLength(1)
    expect(tally).toMatchObject({ files: 2, unreadable: 1 })
  })
})
