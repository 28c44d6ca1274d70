import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parsePart } from '../../../src/core/parts/parse-part.ts'
import { packChunks } from '../../../src/store/parts/packed-body.ts'
import { type SelectElsewhere, threadSelect } from '../../../src/store/parts/select-elsewhere.ts'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'

const ROWS = Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: `row ${i}` }))
const BODY = Buffer.from(JSON.stringify(ROWS))
const LAST = parsePart({ path: '$[-1].id' })!

const bodyOf = (bytes: Uint8Array) => ({
  packed: packChunks([{ bytes, isCompressed: false }]),
  bytes: bytes.length,
  chunkBytes: bytes.length,
})
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

async function openStore(elsewhere?: SelectElsewhere) {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-store-'))
  const seam = elsewhere === undefined ? {} : { elsewhere }
  const store = await openSqliteStore({ folder, onEvent: () => {}, ...seam })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const [large, small] = await store.put([
    { tenant: 'a', body: BODY, mediaType: 'application/json' },
    { tenant: 'b', body: Buffer.from('small'), mediaType: 'text/plain' },
  ])
  if (!(large?.ok && small?.ok)) throw new Error('refused')
  return { store, large: large.hash, small: small.hash }
}

test('parts of a large body come from the thread that cuts them', async () => {
  const { store, large } = await openStore()
  const part = async (query: Parameters<typeof parsePart>[0]) => {
    const answer = await store.part({ tenant: 'a', ref: large }, parsePart(query)!)
    return answer.ok ? text(answer.part.content) : answer
  }
  expect(await part({ path: '$[-1].id' })).toBe('19999')
  expect(await part({ path: '$[3:5].name' })).toBe('["row 3","row 4"]')
  expect(await part({ grep: 'row 19999', context: '0' })).toContain('row 19999')
  // What the client did wrong comes through the thread as it does without one.
  expect(await part({ path: '$[99999]' })).toMatchObject({ reason: 'invalid_request' })
  expect(await part({ path: '$[0].id' })).toBe('0')
})

test('while a part is cut, all others are answered', async () => {
  const thread = threadSelect()
  const order: string[] = []
  const elsewhere: SelectElsewhere = {
    async select(body, selector) {
      const cut = thread.select(body, selector)
      // Handed over, not copied.
      expect(body.packed.byteLength).toBe(0)
      await neighbours()
      order.push('the part')
      return cut
    },
    close: () => thread.close(),
  }
  const { store, large, small } = await openStore(elsewhere)
  const noted = (name: string, isOk: boolean) => order.push(isOk ? name : `${name} failed`)
  async function neighbours() {
    const item = { tenant: 'b', body: Buffer.from('new'), mediaType: 'text/plain' }
    noted('get', (await store.get({ tenant: 'b', ref: small })).ok)
    noted(
      'put',
      (await store.put([item])).every(({ ok }) => ok),
    )
    noted('lines', (await store.part({ tenant: 'a', ref: large }, parsePart({ lines: '1' })!)).ok)
    noted('path', (await store.part({ tenant: 'b', ref: small }, parsePart({ grep: 's' })!)).ok)
    noted('stats', (await store.stats()).ok)
  }
  const answer = await store.part({ tenant: 'a', ref: large }, LAST)
  expect(answer.ok && text(answer.part.content)).toBe('19999')
  expect(order).toEqual(['get', 'put', 'lines', 'path', 'stats', 'the part'])
})

test('a thread that is lost fails its part alone, and the next part starts another', async () => {
  const thread = threadSelect()
  const cut = thread.select(bodyOf(BODY), LAST)
  await thread.close()
  expect(await cut).toMatchObject({ ok: false, reason: 'lost' })
  const again = await thread.select(bodyOf(BODY), LAST)
  expect(again.ok && text(again.part.content)).toBe('19999')
  await thread.close()
})

test('closing the store answers the parts that it has accepted', async () => {
  const { store, large } = await openStore()
  const parts = Array.from({ length: 5 }, () => store.part({ tenant: 'a', ref: large }, LAST))
  await store.close()
  expect((await Promise.all(parts)).map(({ ok }) => ok)).toEqual(Array(5).fill(true))
  expect(await store.part({ tenant: 'a', ref: large }, LAST)).toMatchObject({ reason: 'closed' })
})
