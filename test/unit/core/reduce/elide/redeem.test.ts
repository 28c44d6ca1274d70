import { expect, test } from 'vitest'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { StoredOriginals } from '../../../../../src/store/originals.ts'
import { counters } from '../../../../support/vocabularies.ts'
import { inlineStore, MINUTE } from '../../../store/inline-store.ts'

const log = Array.from({ length: 300 }, (_, at) => `12:00:00 INFO step ${at}`).join('\n')

test('a marker that is seen again lives as long again, then it is gone, and says so', async () => {
  const { store, clock } = await inlineStore()
  const lifetimes = () => ({ originalMs: 30 * MINUTE, sessionMs: MINUTE })
  const originals = new StoredOriginals(store, lifetimes, () => clock.now)
  const see = async () => {
    const context = { counters, maxDepth: 64, maxDecodedChars: 1e7, keepsOriginals: true }
    const { answer, keep = [] } = encodeOperation.run(
      { content: log, mode: 'elide', min_saved_tokens: 0 },
      context,
    )
    for (const text of keep) await originals.keep('a', text)
    return answer.elided[0]!.hash
  }
  const fetch = (ref: string) => originals.fetch({ tenant: 'a', ref }, () => {})

  const ref = await see()
  clock.now += 29 * MINUTE
  expect(await see()).toBe(ref)
  clock.now += 29 * MINUTE
  expect(Buffer.from((await fetch(ref)).body).toString()).toBe(log)
  const { part } = await originals.fetchPart(
    { tenant: 'a', ref },
    { kind: 'lines', range: { first: 9, last: 9 } },
  )
  expect(part).toMatchObject({ kind: 'lines', first: 9, last: 9 })
  clock.now += 31 * MINUTE
  await expect(fetch(ref)).rejects.toMatchObject({ code: 'gone' })
})
