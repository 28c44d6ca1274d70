import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { LedgerResult } from '../../book/rows/figures.ts'
import { type FoundTexts, readTexts, textCodec } from '../../book/rows/kept-texts.ts'
import { readResult } from '../../book/rows/read-rows.ts'
import type { Config } from '../../config/config.ts'
import { LOCAL_TENANT } from '../../core/base/tenant-name.ts'
import { LEDGER_FILE } from '../../runtime/data-files.ts'

export interface FoundResult {
  readonly result: LedgerResult
  readonly texts: FoundTexts
}

/** Results of the user's own ledger that are in the last place. */
const LATEST = `SELECT text.id FROM text JOIN result USING (id) WHERE text.tenant = ?
  ORDER BY data ->> 'sent' = data ->> 'received', text.id DESC LIMIT 1`

/**
 * A result of the user's own ledger with both sides.
 * @param id `null`: the latest that was sent otherwise than it came, if there is one
 * @returns `null` if its texts are not kept
 */
export function findTexts(
  { data_dir: folder, store }: Pick<Config, 'data_dir' | 'store'>,
  id: number | null,
  now: number,
): FoundResult | null {
  const file = join(folder, LEDGER_FILE)
  if (!existsSync(file)) return null
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    database.exec('PRAGMA busy_timeout = 500')
    const isNew = database
      .prepare("SELECT 1 FROM sqlite_master WHERE name = 'text_of_result'")
      .get()
    if (isNew === undefined) return null
    const wanted = id ?? Number(database.prepare(LATEST).get(LOCAL_TENANT)?.['id'] ?? 0)
    const result = readResult(database, LOCAL_TENANT, wanted)
    if (result === null) return null
    const codec = textCodec(folder, store.encryption_keys)
    const texts = readTexts(database, codec, { tenant: LOCAL_TENANT, id: wanted, now })
    return texts === null ? null : { result, texts }
  } finally {
    database.close()
  }
}
