import { expect, it, onTestFinished } from 'vitest'
import { Book } from '../../../../src/book/book.ts'
import { LIMITS, ledgerFolder, ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf } from '../../../support/ledger/rows.ts'

it('ledgers on one folder see what the others wrote, and none is lost at the end', async () => {
  const folder = ledgerFolder()
  const failures: string[] = []
  const threaded = new Book({
    folder,
    limits: LIMITS,
    now: Date.now,
    onUnwritten: detail => failures.push(detail),
    onDropped: count => failures.push(`${count} dropped`),
    onBug: bug => failures.push(bug),
  })
  onTestFinished(() => threaded.close())
  const { ledger: own } = ownLedger({ folder })
  for (let at = 0; at < 50; at++) {
    threaded.result(resultOf('a', { tool: 'threaded' }))
    own.result(resultOf('a', { tool: 'own' }))
    await Promise.all([threaded.latest('a', 1), own.latest('a', 1)])
  }
  threaded.result(resultOf('a', { tool: 'last' }))
  await threaded.close()
  const { rows } = await own.tools('a', 24)
  expect(Object.fromEntries(rows.map(({ tool, results }) => [tool, results]))).toEqual({
    threaded: 50,
    own: 50,
    last: 1,
  })
  expect(failures).toEqual([])
})
