import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { json, startSmallService } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-no-store-'))
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  // Nobody can make a folder below a file, whoever runs the test; a read-only disk looks the same.
  writeFileSync(join(folder, 'file'), '')
  service = await startSmallService({
    workers: { count: 1 },
    data_dir: join(folder, 'file', 'data'),
    telemetry: { sample_rate: 0 },
  })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

const records = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id, name: `n${id}` })))

it('takes work, and says that its store cannot be opened', async () => {
  const ready = await fetch(`${service.url}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([200, 'ready; the store cannot be opened'])
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  expect(metrics).toContain('haversack_store_available 0')
})

it('encodes as ever, in a session too', async () => {
  const body = JSON.stringify({ content: records, session: 's' })
  for (let i = 0; i < 2; i++) {
    const answer = await json(service.post('/v1/encode', body))
    expect(answer).toMatchObject({ lossless: true, hints: [] })
  }
})

it('refuses what needs the store, and says when to come again', async () => {
  const found = await fetch(`${service.url}/v1/retrieve/${'a'.repeat(24)}`)
  expect([found.status, found.headers.get('retry-after')]).toEqual([503, '5'])
  const kept = await service.post('/v1/inputs', JSON.stringify({ content: records }))
  expect([kept.status, kept.headers.get('retry-after')]).toEqual([503, '5'])
})
