import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { buildFingerprints } from '../../../src/fingerprints/build/build-fingerprints.ts'
import { withBuildLock } from '../../../src/fingerprints/build/build-lock.ts'
import {
  ENDPOINTS_FILE,
  fingerprintsFolder,
  SPANS_FILE,
} from '../../../src/fingerprints/folder-files.ts'
import { readFingerprintFile, writeFingerprintFile } from '../../../src/fingerprints/span-file.ts'
import { eventsOf, writeEvents } from '../../integration/fingerprints/telemetry-events.ts'
import { DAY, row } from './rows.ts'

const root = mkdtempSync(join(tmpdir(), 'haversack-spans-'))
afterAll(() => rmSync(root, { recursive: true }))
let data: string
beforeEach(() => {
  data = mkdtempSync(join(root, 'data-'))
})

/** Builds, and gives the tenant's folder. */
async function build(now = Date.now()): Promise<string> {
  const [{ tenant } = { tenant: '' }] = await buildFingerprints(data, now)
  return join(fingerprintsFolder(data), tenant)
}

describe('a file of spans', () => {
  it('is there as a whole or not at all, and nothing beside it', async () => {
    const file = join(data, 'deep', SPANS_FILE)
    expect(await readFingerprintFile(file)).toBeNull()
    await writeFingerprintFile(file, [row()])
    await writeFingerprintFile(file, [row(), row({ endpoint_class: 'curl' })])
    expect(await readFingerprintFile(file)).toHaveLength(2)
    expect(readdirSync(join(data, 'deep'))).toEqual([SPANS_FILE])
  })
})

describe('a build', () => {
  beforeEach(() => writeEvents(data, 'local', eventsOf('Read', 6)))

  it('finds the closed spans again, and changes none of them', async () => {
    const folder = await build()
    const first = await readFingerprintFile(join(folder, SPANS_FILE))
    expect(first).toMatchObject([{ endpoint_class: 'Read', source_sessions: 6, call_count: 12 }])
    writeEvents(data, 'local', eventsOf('Read', 9))
    await build()
    expect(await readFingerprintFile(join(folder, SPANS_FILE))).toEqual(first)
  })

  it('does nothing where nobody can know what has been shared', async () => {
    const folder = await build()
    writeFileSync(join(folder, SPANS_FILE), 'damaged')
    writeEvents(data, 'other', eventsOf('Read', 7))
    const file = join(folder, SPANS_FILE)
    await expect(build()).rejects.toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining(file),
    })
    expect(readFileSync(file, 'utf8')).toBe('damaged')
    // Those of another tenant, whichever comes first, are there.
    const folders = readdirSync(fingerprintsFolder(data))
    const other = folders.find(name => join(fingerprintsFolder(data), name) !== folder) ?? ''
    expect(readdirSync(join(fingerprintsFolder(data), other))).toContain(SPANS_FILE)
  })

  it('is of the last 30 days, and of nothing that is said to come', async () => {
    const moved = (days: number) =>
      eventsOf('Read', 9).map(event => ({ ...event, ts_ms: event.ts_ms + days * DAY }))
    writeEvents(data, 'local', [...moved(-30), ...moved(2)])
    const folder = await build()
    for (const file of [SPANS_FILE, ENDPOINTS_FILE]) {
      const rows = await readFingerprintFile(join(folder, file))
      expect(rows).toMatchObject([{ source_sessions: 6, call_count: 12 }])
    }
  })

  it('closes no span with the day that is not over', async () => {
    const now = Date.now()
    const today = eventsOf('Grep', 9).map(event => ({ ...event, ts_ms: now }))
    writeEvents(data, 'local', today)
    const names = async (file: string) =>
      (await readFingerprintFile(file))?.map(each => each.endpoint_class)
    const folder = await build(now)
    expect(await names(join(folder, ENDPOINTS_FILE))).toEqual(['Grep', 'Read'])
    expect(await names(join(folder, SPANS_FILE))).toEqual(['Read'])
    await build(now + DAY)
    expect(await names(join(folder, SPANS_FILE))).toEqual(['Grep', 'Read'])
  })

  it('leaves the field to another one', async () => {
    const folder = await build()
    await withBuildLock(folder, async () => {
      await expect(build()).rejects.toThrow('another build is under way')
    })
    await build()
    expect(readdirSync(folder).sort()).toEqual(['build.lock', 'endpoints.parquet', 'spans.parquet'])
  })

  it('shares no day once more after a clock that was wrong for a while', async () => {
    const now = Date.now()
    const file = join(await build(now), SPANS_FILE)
    const first = await readFingerprintFile(file)
    writeEvents(data, 'local', eventsOf('Read', 9))
    await build(now + 400 * DAY)
    await build(now)
    expect(await readFingerprintFile(file)).toEqual(first)
  })
})
