import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { loadConfig } from '../../../../src/config/load.ts'
import { openConfiguredBook } from '../../../../src/service/book/book.ts'
import { filesIn, temporaryFolder } from '../../../unit/book/events/writer.ts'

const NAME = '0'.repeat(16)
const metrics = { telemetry: vi.fn(), ledgerDropped: vi.fn() }
const reporters = { metrics, logger: { warn: vi.fn() }, onBug: vi.fn() }

it('deletes in time what was written before telemetry was switched off', async () => {
  const data_dir = temporaryFolder()
  const config = loadConfig({ env: {}, overrides: { data_dir, ledger: { enabled: false } } })
  expect(openConfiguredBook(config, { key: null }, reporters)).toBeNull()
  const events = join(data_dir, 'telemetry', NAME, 'events')
  mkdirSync(events, { recursive: true })
  const started = (ms: number) => ms.toString(16).padStart(12, '0')
  for (const ms of [Date.now(), Date.now() - 31 * 86_400_000]) {
    writeFileSync(join(events, `${NAME}-${started(ms)}-00000000.jsonl`), '')
  }
  const book = openConfiguredBook(config, { key: null }, reporters)
  await book?.close()
  expect(filesIn(data_dir)).toHaveLength(1)
  expect(reporters.logger.warn).not.toHaveBeenCalled()
})
