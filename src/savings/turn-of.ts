import type { Turn } from '../ledger/turn.ts'
import type { Entry } from './tenant-ledger.ts'

/** The ledger's turn of a request, from what its tenant's account got of it. */
export function turnOf({ vendor, account, conversation, report }: Entry, at: number): Turn {
  const { usage, removed, billed, without, without_usage } = account
  return {
    at,
    vendor,
    conversation: conversation?.id ?? null,
    model: conversation?.model ?? null,
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
