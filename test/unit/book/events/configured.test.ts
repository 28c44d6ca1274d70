import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { loadConfig } from '../../../../src/config/load.ts'
import { openConfiguredTelemetry } from '../../../../src/service/book/telemetry.ts'
import { filesIn, temporaryFolder } from './writer.ts'

const NAME = '0'.repeat(16)
const reporters = { metrics: { telemetry: vi.fn() }, logger: { warn: vi.fn() } }

it('deletes in time what was written before telemetry was switched off', async () => {
  const data_dir = temporaryFolder()
  const config = loadConfig({ env: {}, overrides: { data_dir } })
  expect(openConfiguredTelemetry(config, null, reporters)).toBeNull()
  const events = join(data_dir, 'telemetry', NAME, 'events')
  mkdirSync(events, { recursive: true })
  const started = (ms: number) => ms.toString(16).padStart(12, '0')
  for (const ms of [Date.now(), Date.now() - 31 * 86_400_000]) {
    writeFileSync(join(events, `${NAME}-${started(ms)}-00000000.jsonl`), '')
  }
  const telemetry = openConfiguredTelemetry(config, null, reporters)
  await telemetry?.close()
  expect(filesIn(data_dir)).toHaveLength(1)
  expect(reporters.logger.warn).not.toHaveBeenCalled()
})
