import type { Turn } from '../rows/turn.ts'
import type { ArrivedTurn } from '../rows/write-rows.ts'
import type { Entry } from './tenant-bill.ts'

/** The ledger's turn of a request, from what its tenant's account got of it. */
function turnOf({ vendor, account, conversation, report, model }: Entry, at: number): Turn {
  const { usage, removed, billed, without, without_usage } = account
  return {
    at,
    vendor,
    conversation: conversation?.id ?? null,
    model: conversation?.model ?? model ?? null,
    known: without_usage === 0,
    uncached: usage.uncached,
    cache_read: usage.cache_read,
    cache_write: usage.cache_write + usage.cache_write_long,
    output: usage.output,
    removed: Object.values(removed).reduce((sum, tokens) => sum + tokens, 0),
    billed,
    without,
    untouched: report.untouched,
    prefix_changed: report.prefixChanged,
  }
}

/** What the next service of ours counts. */
const OF_THE_NEXT = { known: true, prefix_changed: false } as const

/** A bill without what was paid: what was saved before the next service of ours is left. */
function savedOnly({ billed, without }: Pick<Turn, 'billed' | 'without'>) {
  return { billed: 0, without: without - billed }
}

/** What arrives at the ledger of an entry; `null`: nothing, it only sums results. */
export function arrivedTurn(
  tenant: string,
  entry: Entry,
  { at, currency }: { readonly at: number; readonly currency: string },
): ArrivedTurn | null {
  const { account, tools = [], origin } = entry
  const { requests, billed, money } = account
  if (requests === 0 && billed === 0) return null
  const isPriced = money.requests > 0 || money.billed > 0
  const { billed: paid, without } = entry.isPassedOn === true ? savedOnly(money) : money
  const turn = turnOf(entry, at)
  return {
    tenant,
    turn: entry.isPassedOn === true ? { ...turn, ...savedOnly(turn), ...OF_THE_NEXT } : turn,
    bill: {
      tools,
      money: isPriced ? { currency, billed: paid, without } : null,
      isHidden: requests === 0 || entry.isPassedOn === true,
    },
    ...(origin !== undefined && { origin }),
  }
}
