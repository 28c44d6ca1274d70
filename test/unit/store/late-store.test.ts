import { expect, it } from 'vitest'
import { openLateStore } from '../../../src/store/values/late-store.ts'
import { eventually } from '../../support/eventually.ts'
import { inlineStore, keep, text } from './inline-store.ts'

const reference = { tenant: 'a', ref: 'f'.repeat(24) }

/** A late store that `attempts` times cannot be opened. */
async function lateAfter(attempts: number) {
  const { store } = await inlineStore()
  const reasons: string[] = []
  const late = await openLateStore({
    open: async () => {
      if (reasons.length < attempts) throw new Error(`EROFS ${reasons.length}`)
      return store
    },
    onUnavailable: detail => reasons.push(detail),
    retryMs: 10,
  })
  return { late, reasons }
}

it('is the store where it can be opened', async () => {
  const { late, reasons } = await lateAfter(0)
  const { hash } = await keep(late, 'here')
  const found = await late.get({ tenant: 'a', ref: hash })
  expect(found.ok && text(found.body)).toBe('here')
  expect(reasons).toEqual([])
})

it('fails calls as values until it can, and says why each time', async () => {
  const { late, reasons } = await lateAfter(3)
  expect(await late.get(reference)).toMatchObject({ ok: false, reason: 'unavailable' })
  const put = { tenant: 'a', body: new Uint8Array(1), mediaType: 'text/plain' }
  expect(await late.put([put, put])).toMatchObject([
    { reason: 'unavailable' },
    { reason: 'unavailable' },
  ])
  expect(late.load.pending).toBe(0)
  await eventually(async () =>
    expect(await late.get(reference)).toMatchObject({ reason: 'not_found' }),
  )
  expect(reasons).toEqual(['EROFS 0', 'EROFS 1', 'EROFS 2'])
})

it('is not opened any more once it is closed', async () => {
  const { late } = await lateAfter(Number.POSITIVE_INFINITY)
  await late.close()
  expect(await late.stats()).toMatchObject({ reason: 'closed' })
})
