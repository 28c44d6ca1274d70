import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { limitTexts, TEXT_MS } from '../../../../src/book/rows/kept-texts.ts'
import { purgeLedger } from '../../../../src/book/rows/purge-ledger.ts'
import { LEDGER_FILE } from '../../../../src/runtime/data-files.ts'
import { ledgerFolder, ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf } from '../../../support/ledger/rows.ts'

const texts = (before: string, after = before) => ({ before, after, format: 'passthrough' })

/** A ledger that keeps texts, whose file can be looked at. */
function start(options: Parameters<typeof ownLedger>[0] = {}) {
  const folder = ledgerFolder()
  const { ledger } = ownLedger({ folder, textKeys: [], ...options })
  const rows = () => {
    const database = new DatabaseSync(join(folder, LEDGER_FILE))
    try {
      return database.prepare('SELECT id, tenant FROM text ORDER BY id').all()
    } finally {
      database.close()
    }
  }
  return { ledger, folder, rows }
}

describe('texts of results', () => {
  it('are there for their tenant alone, and cannot be read in the file', async () => {
    const { ledger, folder } = start()
    ledger.result(resultOf('a', {}, { texts: texts('a secret word', 'a word') }))
    expect(await ledger.texts('a', 1)).toMatchObject({ before: 'a secret word', after: 'a word' })
    expect(await ledger.texts('b', 1)).toBeNull()
    await ledger.close()
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file)).includes('secret word')).toBe(false)
    }
  })

  it('belong to their result: those of another one are not taken for them', async () => {
    const { ledger, folder } = start()
    ledger.result(resultOf('a', {}, { texts: texts('one') }))
    ledger.result(resultOf('a', {}, { texts: texts('two') }))
    await ledger.flush()
    const database = new DatabaseSync(join(folder, LEDGER_FILE))
    database.exec('UPDATE text SET sealed = (SELECT sealed FROM text WHERE id = 1) WHERE id = 2')
    database.close()
    expect(await ledger.texts('a', 1)).toMatchObject({ before: 'one' })
    expect(await ledger.texts('a', 2)).toBeNull()
  })

  it('come with what they refer to, of their tenant', async () => {
    const { ledger } = start()
    const received = 'ab12cd34'.padEnd(24, '0')
    ledger.result(resultOf('b', { received }, { texts: texts('of another') }))
    ledger.result(resultOf('a', { received }, { texts: texts('earlier') }))
    const after = '> [ref ab12cd34 Read 2 calls ago]\n> [ref 00000000 Read]'
    ledger.result(resultOf('a', {}, { texts: texts('earlier', after) }))
    expect((await ledger.texts('a', 3))?.earlier).toEqual({ ab12cd34: 'earlier' })
  })

  it('go after seven days, though nothing is written then', async () => {
    let now = 1e12
    // Rows stay longer than texts.
    const limits = { max_rows: 9, max_bytes: 2 ** 28, ttl_ms: 1e12, days: 400 }
    const { ledger, rows } = start({ now: () => now, flushMs: 5, limits })
    ledger.result(resultOf('a', {}, { at: now, texts: texts('old') }))
    now += TEXT_MS - 1
    expect(await ledger.texts('a', 1)).not.toBeNull()
    now += 1
    expect(await ledger.texts('a', 1)).toBeNull()
    expect(rows()).toHaveLength(1)
    now += 60_000
    await expect.poll(rows).toEqual([])
  })

  it('go with the row of their result, and with their tenant', async () => {
    const { ledger, folder, rows } = start({
      limits: { max_rows: 2, max_bytes: 2 ** 28, ttl_ms: 1e12, days: 400 },
    })
    for (const tenant of ['a', 'a', 'a', 'b']) {
      ledger.result(resultOf(tenant, {}, { texts: texts('kept') }))
    }
    await ledger.flush()
    expect(rows().map(({ id }) => id)).toEqual([2, 3, 4])
    purgeLedger(folder, 'a')
    expect(rows()).toEqual([{ id: 4, tenant: 'b' }])
  })

  it('take no more room than they may: the oldest of that tenant go', async () => {
    const { ledger, folder, rows } = start()
    for (const tenant of ['b', 'a', 'a', 'a']) {
      ledger.result(resultOf(tenant, {}, { texts: texts('x'.repeat(100)) }))
    }
    await ledger.flush()
    const database = new DatabaseSync(join(folder, LEDGER_FILE))
    const all = database.prepare("SELECT sum(length(sealed)) AS n FROM text WHERE tenant = 'a'")
    limitTexts(database, 'a', Number(all.get()?.['n']) - 1)
    database.close()
    expect(rows().map(({ id }) => id)).toEqual([1, 3, 4])
  })

  it('are not kept unless they are asked for, and their results are', async () => {
    const { ledger, rows } = start({ textKeys: null })
    ledger.result(resultOf('a', {}, { texts: texts('no') }))
    expect(await ledger.texts('a', 1)).toBeNull()
    expect(await ledger.latest('a', 9)).toHaveLength(1)
    expect(rows()).toEqual([])
  })

  it('do not wait without bound: results beyond it come without them', async () => {
    const { ledger, rows } = start()
    const long = 'x'.repeat(5 * 1024 * 1024)
    for (let at = 0; at < 3; at++) ledger.result(resultOf('a', {}, { texts: texts(long) }))
    expect(await ledger.latest('a', 9)).toHaveLength(3)
    expect(rows().map(({ id }) => id)).toEqual([1])
    ledger.result(resultOf('a', {}, { texts: texts(long) }))
    await ledger.flush()
    expect(rows().map(({ id }) => id)).toEqual([1, 4])
  })
})
