import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { PartSelector } from '../../../src/core/parts/part.ts'
import { selectPart } from '../../../src/core/parts/select-part.ts'
import { FULL_RUNS, SEED } from '../../support/runs.ts'
import { bytesOf, inlineStore, keep, must, text } from './inline-store.ts'

const BODY = Array.from({ length: 9000 }, (_, i) => `line ${i + 1} of some\n`.repeat(1 + (i % 3)))
  .join('')
  .concat('the last')
const RANGES: readonly PartSelector[] = [
  { first: 1, last: 3 },
  { first: 3000, last: 3002 },
  { first: 6000, last: 12_000 },
  { first: 17_990, last: 18_001 },
  { first: 17_000, last: null },
  { first: 10_000, last: null },
  { suffix: 5 },
].map(range => ({ kind: 'lines', range }) as const)

/**
 * Every line number in the file of one body, and the bits that are changed in it, one at a time.
 */
const CHANGES = [
  ...[0, 1, 2, 3, 4, 5].map(chunk => `UPDATE chunk SET line = LINE WHERE id % 4096 = ${chunk}`),
  'UPDATE body SET lines = LINE',
].flatMap(sql => [0, 3, 9, 13, 20].map(bit => sql.replace('LINE', `${flipped(sql, 2 ** bit)}`)))

function flipped(sql: string, bit: number): string {
  const column = sql.includes('chunk') ? 'line' : 'lines'
  // SQLite has no exclusive or.
  return `(${column} | ${bit}) - (${column} & ${bit})`
}

test('a changed line number in the file gives no other lines', async () => {
  const { store, folder } = await inlineStore()
  const { hash: ref } = await keep(store, BODY)
  const database = new DatabaseSync(join(folder, 'store.sqlite'))
  const saved = 'CREATE TEMP TABLE saved AS SELECT id, line FROM chunk; CREATE TEMP TABLE total AS'
  database.exec(`${saved} SELECT lines FROM body`)
  for (const change of FULL_RUNS ? CHANGES : CHANGES.filter((_, n) => n % 12 === SEED % 12)) {
    database.exec(change)
    for (const selector of RANGES) {
      const wanted = selectPart(bytesOf(BODY), selector)
      const { part } = must(await store.part({ tenant: 'a', ref }, selector))
      expect({ change, ...part, content: text(part.content) }).toEqual({
        change,
        ...wanted,
        content: text(wanted.content),
      })
    }
    database.exec(`UPDATE chunk SET line = (SELECT line FROM saved WHERE saved.id = chunk.id);
      UPDATE body SET lines = (SELECT lines FROM total)`)
  }
  database.close()
})
