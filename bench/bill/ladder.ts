import { type ArmPlay, account, NO_CHANGES, totalOf } from '../../src/lab/bill/account.ts'
import type { PlacedSession } from '../../src/lab/bill/place-results.ts'
import { READ_PRICE, WRITE_PRICES } from '../../src/lab/bill/prices.ts'

/** What a model of a bill divides by, and what is saved of it. */
interface Rung {
  whole: number
  saved: number
}

/**
 * The steps from a usual model of a bill to what was paid: results and calls where nothing expires;
 * with recorded misses and prices; with what stands before them; with all texts; with output.
 */
export function ladderOf(session: PlacedSession, arm: ArmPlay): readonly Rung[] {
  const { calls, results } = session
  const sent = new Map(arm.changes.map(({ result, sent: tokens }) => [result, tokens]))
  const lessOf = (index: number) => {
    const { raw, tokens } = results[index]!
    return raw === 0 ? 0 : tokens * Math.max(0, 1 - (sent.get(index) ?? raw) / raw)
  }
  const [simple, real, based] = [none(), none(), none()]
  for (const [at, { read, prompt, epoch, writePrice }] of calls.entries()) {
    const first = calls.findIndex(each => each.epoch === epoch)
    const add = (start: number, tokens: number, less: number, isNew: boolean) => {
      const price = start < read ? READ_PRICE : writePrice
      addTo(simple, isNew ? WRITE_PRICES.minutes : READ_PRICE, tokens, less)
      for (const rung of [real, based]) addTo(rung, price, tokens, less)
    }
    for (const [index, result] of results.entries()) {
      if (result.epoch !== epoch || result.call > at || result.start >= prompt) continue
      add(result.start, result.tokens, lessOf(index), result.call === at)
    }
    for (let earlier = first; earlier < at; earlier++) {
      add(calls[earlier]!.prompt, calls[earlier]!.callTokens, 0, earlier === at - 1)
    }
    const own = results.filter(result => result.epoch === epoch && result.call === first)
    const base = calls[first]!.prompt - own.reduce((sum, { tokens }) => sum + tokens, 0)
    addTo(based, READ_PRICE, Math.min(base, read), 0)
    addTo(based, writePrice, Math.max(0, base - read), 0)
  }
  const direct = account(session, NO_CHANGES)
  const saved = totalOf(direct) - totalOf(account(session, arm))
  const input = { whole: totalOf(direct) - direct.output, saved }
  return [simple, real, based, input, { whole: totalOf(direct), saved }]
}

const none = (): Rung => ({ whole: 0, saved: 0 })

function addTo(rung: Rung, price: number, tokens: number, less: number): void {
  rung.whole += price * tokens
  rung.saved += price * less
}
