import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ResultSums } from '../../../../src/book/rows/figures.ts'
import { ledgerFolder, ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../../support/ledger/rows.ts'
import { runs } from '../../../support/runs.ts'

const saved = fc.nat(1_000)
const arrivals = fc.array(
  fc.record({
    tenant: fc.constantFrom('a', 'b'),
    tool: fc.constantFrom('search', 'read', null, '__proto__', "'; --"),
    session: fc.constantFrom(null, '1'.repeat(16), '2'.repeat(16)),
    source: fc.constantFrom('encode', 'compress', 'anthropic'),
    before: fc.integer({ min: 3_000, max: 9_000 }),
    saved: fc.tuple(saved, saved, saved),
    billed: fc.nat(5_000),
    restarts: fc.boolean(),
  }),
  { maxLength: 30 },
)

const add = (rows: readonly ResultSums[]) =>
  rows.reduce((sum, row) => sum + row.before - row.referred - row.encoded - row.omitted, 0)

it('every page has the same sums, whatever came, and over restarts', async () => {
  await fc.assert(
    fc.asyncProperty(arrivals, async all => {
      const folder = ledgerFolder()
      let { ledger } = ownLedger({ folder })
      for (const { tenant, tool, session, source, before, saved, billed, restarts } of all) {
        const [referred, encoded, omitted] = saved
        ledger.result(
          resultOf(tenant, { tool, session, before, referred, encoded, omitted }, { source }),
        )
        ledger.turn(turnOf({ tenant, conversation: session, billed, without: 2_500 }))
        if (!restarts) continue
        await ledger.close()
        ledger = ownLedger({ folder }).ledger
      }
      for (const tenant of ['a', 'b']) {
        const own = all.filter(each => each.tenant === tenant)
        const sent = own.reduce((sum, { before, saved: [a, b, c] }) => sum + before - a - b - c, 0)
        const { results, bySource, buckets, bill } = await ledger.overview(tenant, 24, 1)
        const { rows } = await ledger.tools(tenant, 24)
        const listed = (await ledger.latest(tenant, 100)).map(row => ({ ...row, results: 1 }))
        for (const sums of [[results], bySource, buckets, rows, listed]) {
          expect(add(sums)).toBe(sent)
        }
        expect(bill).toMatchObject({
          turns: own.length,
          billed: own.reduce((sum, each) => sum + each.billed, 0),
        })
        const named = own.filter(each => each.session !== null)
        const { rows: conversations } = await ledger.conversations(tenant, 0, 10)
        const counted = conversations.map(each => [each.results, each.turns])
        const sum = (at: 0 | 1) => counted.reduce((all, each) => all + each[at]!, 0)
        expect([sum(0), sum(1)]).toEqual([named.length, named.length])
      }
      await ledger.close()
    }),
    { numRuns: runs(20) },
  )
})
