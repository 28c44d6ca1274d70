import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadTelemetryKey } from '../../../src/book/events/key-file.ts'
import { storeCommand } from '../../../src/cli/store/command.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { withBuildLock } from '../../../src/fingerprints/build/build-lock.ts'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'
import { filesIn } from '../../unit/book/events/writer.ts'

/** A data folder with something of everything of two tenants. */
async function twoTenants() {
  const data = mkdtempSync(join(tmpdir(), 'haversack-purge-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const store = await openSqliteStore({ folder: data, onEvent: () => {} })
  onTestFinished(() => store.close())
  const key = loadTelemetryKey(data)
  for (const tenant of ['acme', 'emca']) {
    await store.put([{ tenant, body: Buffer.from(tenant), mediaType: 'text/plain', session: 's' }])
    await store.writeRecord({ tenant, namespace: 'rewrites', key: 'k', value: Buffer.from('v') })
    const name = tenantFolder(key, tenant)
    const telemetry = join(data, 'telemetry', name)
    for (const file of ['events/a.jsonl', 'events/a.open.jsonl', 'sessions/b.jsonl']) {
      mkdirSync(join(telemetry, file, '..'), { recursive: true })
      writeFileSync(join(telemetry, file), tenant)
    }
    mkdirSync(join(data, 'fingerprints', name), { recursive: true })
    writeFileSync(join(data, 'fingerprints', name, 'endpoints.parquet'), tenant)
  }
  const folders = (tenant: string) =>
    ['telemetry', 'fingerprints'].map(kind => join(data, kind, tenantFolder(key, tenant)))
  return { data, store, folders }
}

async function purge(values: Record<string, string | boolean>): Promise<unknown> {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    expect(await storeCommand.run({ ...values, json: true }, ['purge'])).toBe(0)
    return JSON.parse(String(output.mock.calls[0]?.[0]))
  } finally {
    output.mockRestore()
  }
}

test('a purge deletes all of a tenant, says how much, and leaves others alone', async () => {
  const { data, store, folders } = await twoTenants()
  expect(await purge({ data, tenant: 'acme', session: 's' })).toEqual({ bodies: 1, records: 0 })
  expect(folders('acme').map(folder => filesIn(folder).length)).toEqual([3, 1])
  const all = { bodies: 0, records: 1, telemetry_files: 3, fingerprint_files: 1, ledger_rows: 0 }
  expect(await purge({ data, tenant: 'acme' })).toEqual(all)
  expect(folders('acme').filter(existsSync)).toEqual([])
  expect(folders('emca').map(folder => filesIn(folder).length)).toEqual([3, 1])
  expect(await store.stats('emca')).toMatchObject({ bodies: 1, records: 1 })
  expect(await purge({ data, tenant: 'acme' })).toEqual({
    bodies: 0,
    records: 0,
    telemetry_files: 0,
    fingerprint_files: 0,
    ledger_rows: 0,
  })
})

test('it says so where it cannot tell whose the files are, or they are being built', async () => {
  const { data, folders } = await twoTenants()
  const built = folders('acme')[1]!
  await withBuildLock(built, () =>
    expect(purge({ data, tenant: 'acme' })).rejects.toThrow('another build is under way'),
  )
  expect(existsSync(built)).toBe(true)
  expect(filesIn(folders('acme')[0]!)).toHaveLength(3)
  rmSync(join(data, 'telemetry.key'))
  await expect(purge({ data, tenant: 'acme' })).rejects.toThrow('telemetry.key is missing')
  for (const kind of ['telemetry', 'fingerprints']) rmSync(join(data, kind), { recursive: true })
  expect(await purge({ data, tenant: 'acme' })).toMatchObject({ telemetry_files: 0 })
})
