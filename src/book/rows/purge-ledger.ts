import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LEDGER_FILE } from '../../runtime/data-files.ts'
import { openLedgerFile } from './database.ts'
import { purge } from './prune.ts'

/**
 * Removes everything that the ledger of a data folder has of a tenant. Another process may have it
 * open.
 * @returns rows that were removed; 0 if there is no ledger
 */
export function purgeLedger(folder: string, tenant: string): number {
  if (!existsSync(join(folder, LEDGER_FILE))) return 0
  const database = openLedgerFile(folder)
  try {
    return purge(database, tenant)
  } finally {
    database.close()
  }
}
