import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { telemetryFolder } from '../../../../src/book/events/layout.ts'
import { tenantFolder } from '../../../../src/core/telemetry/pseudonyms.ts'
import { LEDGER_FILE } from '../../../../src/runtime/data-files.ts'
import { followNotices } from '../../../../src/service/replicas/follow-notices.ts'
import { tellReplicas } from '../../../../src/service/replicas/notices.ts'
import type { Store } from '../../../../src/store/store.ts'
import { eventually } from '../../../support/eventually.ts'
import { ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf } from '../../../support/ledger/rows.ts'
import { recordStore } from '../../../support/record-store.ts'
import { SETTINGS } from '../../book/events/settings.ts'
import { temporaryFolder } from '../../book/events/writer.ts'

const KEY = new Uint8Array(32)
const NEVER_MS = 2 ** 31 - 1

/** A replica that has something of two tenants in memory, and nothing of them in its files yet. */
function replica() {
  const data_dir = temporaryFolder()
  writeFileSync(join(data_dir, 'telemetry.key'), KEY)
  const folder = telemetryFolder(data_dir)
  const { ledger: book } = ownLedger({
    folder: data_dir,
    flushMs: NEVER_MS,
    events: { folder, key: KEY, settings: { ...SETTINGS, flush_every_n: 100 } },
  })
  for (const tenant of ['acme', 'beta']) book.result(resultOf(tenant))
  const shared = recordStore()
  const log: string[] = []
  const forgotten: string[] = []
  const follow = () =>
    followNotices(
      { data_dir, store: { redis: {} } as never },
      {
        store: {
          ...shared.store,
          forgetPurged: (tenant: string, generation: string) =>
            void forgotten.push(`${tenant} ${generation}`),
        } as Store,
        keys: { access: { refuse: () => {} } as never, file: null },
        book,
        logger: {
          info: (_: object, text: string) => void log.push(text),
          error: (_: object, text: string) => void log.push(text),
        } as never,
        onBug: bug => void log.push(String(bug)),
      },
    )
  const hasFiles = (tenant: string) => existsSync(join(folder, tenantFolder(KEY, tenant)))
  return { data_dir, book, store: shared.store, follow, log, forgotten, hasFiles }
}

it('a purge also deletes what waits to be written, and is not undone by a repair', async () => {
  const { book, store, follow, log, forgotten, hasFiles } = replica()
  const news = { kind: 'purge', tenant: 'acme', generation: '7' } as const
  await tellReplicas(store, [news], Date.now())
  const notices = follow()
  await eventually(() => expect(log).toEqual(['files of a purged tenant deleted']))
  await notices.close()
  await book.close()
  expect(forgotten).toEqual(['acme 7'])
  expect([hasFiles('acme'), hasFiles('beta')]).toEqual([false, true])
  expect(await book.latest('acme', 9)).toEqual([])
  expect(await book.latest('beta', 9)).toHaveLength(1)
})

it('a purge waits for a file that another process holds', async () => {
  const { data_dir, book, store, follow, log } = replica()
  expect(await book.latest('acme', 9)).toHaveLength(1)
  book.result(resultOf('acme'))
  const other = new DatabaseSync(join(data_dir, LEDGER_FILE))
  other.exec('BEGIN IMMEDIATE')
  await tellReplicas(store, [{ kind: 'purge', tenant: 'acme' }], Date.now())
  const notices = follow()
  await eventually(() => expect(log).not.toEqual([]))
  expect(log).toEqual(['files of a purged tenant are not deleted yet'])
  other.exec('ROLLBACK')
  other.close()
  await eventually(() => expect(log).toContain('files of a purged tenant deleted'))
  await notices.close()
  expect(await book.latest('acme', 9)).toEqual([])
})
