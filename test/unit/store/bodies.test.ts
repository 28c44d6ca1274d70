import { expect, test } from 'vitest'
import { bodyCases } from '../../support/store/body-cases.ts'
import { inlineStore, keep, MINUTE, must } from './inline-store.ts'

const DAY = 24 * 60 * MINUTE

bodyCases(inlineStore)

test('tombstones are bounded in number, the newest stay', async () => {
  const { store, clock } = await inlineStore({ maxTombstones: 3 })
  const hashes: string[] = []
  for (let i = 0; i < 5; i++) hashes.push((await keep(store, `body ${i}`)).hash)
  clock.now += DAY / 2
  must(await store.prune())
  expect(must(await store.stats()).file?.tombstones).toBe(3)
  const reasons = await Promise.all(
    hashes.map(async ref => {
      const result = await store.get({ tenant: 'a', ref })
      return result.ok ? 'there' : result.reason
    }),
  )
  expect(reasons.filter(reason => reason === 'gone')).toHaveLength(3)
  expect(reasons.filter(reason => reason === 'not_found')).toHaveLength(2)
})
