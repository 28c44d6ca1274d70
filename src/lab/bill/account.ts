import type { PlacedSession } from './place-results.ts'
import { OUTPUT_PRICE, READ_PRICE } from './prices.ts'

/** From a call on, a result is sent with so many o200k tokens. */
export interface TextChange {
  readonly call: number
  readonly result: number
  readonly sent: number
  /** Whether it was sent otherwise before, so that the prefix changes. */
  readonly isAgain: boolean
}

/** What an arm did to a session. */
export interface ArmPlay {
  /** In the order of calls. */
  readonly changes: readonly TextChange[]
  /** Results whose originals the model had to ask for, after a call. */
  readonly fetches: readonly { readonly call: number; readonly result: number }[]
}

export const NO_CHANGES: ArmPlay = { changes: [], fetches: [] }

/** What was paid, in input tokens that no cache has. */
export interface Bill {
  read: number
  write: number
  pause: number
  miss: number
  rewrite: number
  fresh: number
  output: number
  fetch: number
}

export function noBill(): Bill {
  return { read: 0, write: 0, pause: 0, miss: 0, rewrite: 0, fresh: 0, output: 0, fetch: 0 }
}

export interface AccountTerms {
  /** Packed text's tokens by raw text's, where both have as many of o200k. */
  readonly packed?: number
  /** Scales what the model wrote. */
  readonly output?: number
  /** Misses that are charged as reads: none, those after pauses, all. */
  readonly freeMisses?: 'pauses' | 'all'
}

/** Tokens that a model writes to ask for an original. */
const ASK_TOKENS = 150

export const totalOf = (bill: Bill): number => Object.values(bill).reduce((sum, each) => sum + each)

/**
 * The bill of a session under an arm. Without changes it is the recorded usage to the token. What
 * an arm saves goes off at the price of the place where the usage paid it.
 */
export function account(session: PlacedSession, arm: ArmPlay, terms: AccountTerms = {}): Bill {
  const { packed = 1, output = 1, freeMisses } = terms
  const { calls, results } = session
  const bill = noBill()
  const saved = new Map<number, number>()
  const fetched: { readonly at: number; readonly epoch: number; readonly tokens: number }[] = []
  let [nextChange, nextFetch] = [0, 0]
  for (const [at, call] of calls.entries()) {
    const { read, write, fresh, writePrice, missed, prompt, epoch } = call
    let changedFrom = Infinity
    for (; arm.changes[nextChange]?.call === at; nextChange++) {
      const { result, sent, isAgain } = arm.changes[nextChange]!
      const { raw, tokens, start } = results[result]!
      saved.set(result, raw === 0 ? 0 : tokens * Math.max(0, 1 - (packed * sent) / raw))
      if (isAgain) changedFrom = Math.min(changedFrom, start)
    }
    const known = Math.min(prompt, read + missed)
    const off = { read: 0, missed: 0, written: 0, fresh: 0, behind: 0 }
    for (const [index, less] of saved) {
      const result = results[index]!
      if (result.epoch !== epoch || result.start >= prompt) continue
      const share = (from: number, to: number) => less * overlap(result, from, to)
      off.read += share(0, read)
      off.missed += share(read, known)
      off.written += share(known, read + write)
      off.fresh += share(read + write, prompt)
      off.behind += share(Math.min(changedFrom, read), read)
    }
    const again = Math.max(0, read - changedFrom - off.behind)
    const isFree = freeMisses === 'all' || (freeMisses === 'pauses' && call.isPause)
    const missPrice = isFree ? READ_PRICE : writePrice
    bill.read += READ_PRICE * (read - off.read - again)
    bill.rewrite += writePrice * again
    bill[call.isPause ? 'pause' : 'miss'] += missPrice * (missed - off.missed)
    bill.write += writePrice * (write - missed - off.written)
    bill.fresh += fresh - off.fresh
    bill.output += OUTPUT_PRICE * output * call.spent
    for (const each of fetched) {
      if (each.epoch !== epoch) continue
      bill.fetch += each.tokens * (each.at < read ? READ_PRICE : writePrice)
    }
    for (; arm.fetches[nextFetch]?.call === at; nextFetch++) {
      const { tokens } = results[arm.fetches[nextFetch]!.result]!
      const sent = prompt - off.read - off.missed - off.written - off.fresh
      const before = fetched.filter(each => each.epoch === epoch)
      const more = before.reduce((sum, each) => sum + each.tokens, 0)
      bill.fetch += READ_PRICE * (sent + more) + OUTPUT_PRICE * ASK_TOKENS + writePrice * tokens
      fetched.push({ at: prompt, epoch, tokens })
    }
  }
  return bill
}

/** Which part of a result stands between two places of a prompt. */
function overlap(
  { start, tokens }: { readonly start: number; readonly tokens: number },
  from: number,
  to: number,
): number {
  if (tokens === 0) return 0
  return Math.max(0, Math.min(start + tokens, to) - Math.max(start, from)) / tokens
}
