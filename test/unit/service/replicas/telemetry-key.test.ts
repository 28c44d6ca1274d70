import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadTelemetryKey, readTelemetryKey } from '../../../../src/book/events/key-file.ts'
import { tenantFolder } from '../../../../src/core/telemetry/pseudonyms.ts'
import { purgeTenantFiles } from '../../../../src/service/book/purge-tenant-files.ts'
import { joinTelemetryKey, KeyUnknown } from '../../../../src/service/book/telemetry.ts'
import { recordStore } from '../../../support/record-store.ts'

describe('the key of telemetry', () => {
  const shared = recordStore()
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'haversack-telemetry-key-'))
    shared.records.clear()
    shared.state.failure = null
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const folder = (name: string) => join(root, name)
  const joinAs = (name: string) => joinTelemetryKey(folder(name), shared.store)
  const away = { ok: false, reason: 'unavailable', detail: 'away' } as const

  it('is the same for replicas that start at once, and stays after a flush', async () => {
    const keys = await Promise.all(['a', 'b', 'c'].map(joinAs))
    expect(new Set(keys.map(key => Buffer.from(key).toString('hex'))).size).toBe(1)
    for (const name of ['a', 'b', 'c'])
      expect(readTelemetryKey(folder(name))).toEqual(Buffer.from(keys[0]!))
    shared.records.clear()
    expect(Buffer.from(await joinAs('b'))).toEqual(Buffer.from(keys[0]!))
  })

  it("is the folder's while the store is away; without one it is unknown", async () => {
    shared.state.failure = away
    await expect(joinAs('new')).rejects.toThrow(KeyUnknown)
    expect(readTelemetryKey(folder('new'))).toBeNull()
    const own = loadTelemetryKey(folder('old'))
    expect(await joinAs('old')).toEqual(own)
  })

  it('is not taken from a damaged record', async () => {
    const key = { tenant: ' service', namespace: 'telemetry', key: 'key' }
    await shared.store.writeRecord({ ...key, value: Buffer.from('short') })
    await expect(joinAs('new')).rejects.toThrow('the shared key is damaged')
    expect(await joinAs('new').catch(() => null)).toBeNull()
  })

  it('replaces that of a folder that joins; a purge still finds what that one named', async () => {
    const own = loadTelemetryKey(folder('joins'))
    const common = await joinAs('first')
    expect(await joinAs('joins')).toEqual(common)
    const names = [own, common].map(key => tenantFolder(key, 'acme'))
    const telemetry = join(folder('joins'), 'telemetry')
    for (const name of [...names, tenantFolder(common, 'beta')]) {
      mkdirSync(join(telemetry, name, 'events'), { recursive: true })
      writeFileSync(join(telemetry, name, 'events', 'x.jsonl'), '')
    }
    expect(await purgeTenantFiles(folder('joins'), 'acme')).toMatchObject({ telemetry_files: 2 })
    expect(readdirSync(telemetry)).toEqual([tenantFolder(common, 'beta')])
  })
})
