import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { buildFingerprints } from '../../../src/build-fingerprints.ts'
import {
  fingerprintsFolder,
  readFingerprintFile,
  SPANS_FILE,
  writeFingerprintFile,
} from '../../../src/fingerprints/span-file.ts'
import { eventsOf, writeEvents } from '../../integration/fingerprints/telemetry-events.ts'
import { row } from './rows.ts'

const root = mkdtempSync(join(tmpdir(), 'haversack-spans-'))
afterAll(() => rmSync(root, { recursive: true }))
let data: string
beforeEach(() => {
  data = mkdtempSync(join(root, 'data-'))
})

/** Builds, and gives the tenant's folder. */
async function build(): Promise<string> {
  const [{ tenant } = { tenant: '' }] = await buildFingerprints(data, Date.now())
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
    await expect(build()).rejects.toMatchObject({ code: 'invalid_request' })
    expect(readdirSync(folder)).not.toContain('build.lock')
  })

  it('leaves the field to another one, but not to one that was killed', async () => {
    const folder = await build()
    const lock = join(folder, 'build.lock')
    writeFileSync(lock, '')
    await expect(build()).rejects.toThrow('another build is under way')
    utimesSync(lock, 0, 0)
    await build()
    expect(readdirSync(folder).sort()).toEqual(['endpoints.parquet', 'spans.parquet'])
  })
})
