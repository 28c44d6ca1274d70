import type { VendorName } from '../../core/dialects/lookup.ts'
import type { Origin } from '../rows/day-sums.ts'
import type { Turn } from '../rows/turn.ts'
import type { Account } from './account.ts'
import { type SeenUse, useOf } from './agent-tools.ts'
import { type Conversation, emptyBill, type TenantBill } from './tenant-bill.ts'

/**
 * All that the books keep of one request to a vendor, made where its answer is known, or of the
 * results of one that was sent (`requests` of its account is 0). Pure functions of it make the
 * rest: counts, sums of its tenant and of days, rows of the page.
 */
export interface RequestRow {
  readonly tenant: string
  /** Unix milliseconds. */
  readonly at: number
  readonly vendor: VendorName
  readonly account: Account
  /** What the money in its account is counted in. */
  readonly currency: string
  /** Absent: its conversation is not known. */
  readonly conversation?: Pick<
    Conversation,
    'id' | 'model' | 'cached' | 'session' | 'key' | 'kind' | 'seen' | 'change'
  >
  /** Which tools its conversation called; absent: that is not known. */
  readonly use?: SeenUse
  /** Why it was forwarded unchanged; `null` if it was read. */
  readonly untouched: string | null
  /** Whether an earlier turn was sent with another prefix. */
  readonly prefixChanged: boolean
  /** As the answer names it. */
  readonly model?: string | undefined
  /** See `Turn`. */
  readonly tools?: Turn['tools']
  /** Where it came from. */
  readonly origin?: Origin | undefined
  /** Whether another service of ours answered it, which has counted it and its bill. */
  readonly isPassedOn?: boolean | undefined
}

/** What it adds to the bill of its tenant, and to its conversation if that is known. */
export function billOf({ vendor, account, conversation, use, at }: RequestRow): TenantBill {
  const of = conversation && { ...conversation, vendor, first_at: at, last_at: at, account }
  return {
    ...emptyBill(at),
    vendors: { [vendor]: account },
    conversations: of === undefined ? [] : [of],
    uses: use === undefined ? [] : [useOf(use, at)],
  }
}

/** What the ledger's file has of it; `null`: nothing, it only sums results. */
export function turnOf(row: RequestRow): Turn | null {
  const { account, conversation, tools = [], isPassedOn = false } = row
  const { usage, requests, without_usage, removed, money } = account
  if (requests === 0 && account.billed === 0) return null
  // The next service of ours counts what was passed on: what was saved before it is left.
  const paid = (bill: Bill) => (isPassedOn ? savedOnly(bill) : bill)
  const { billed, without } = paid(account)
  const isPriced = money.requests > 0 || money.billed > 0
  return {
    tenant: row.tenant,
    at: row.at,
    vendor: row.vendor,
    conversation: conversation?.id ?? null,
    model: conversation?.model ?? row.model ?? null,
    known: isPassedOn || without_usage === 0,
    uncached: usage.uncached,
    cache_read: usage.cache_read,
    cache_write: usage.cache_write + usage.cache_write_long,
    output: usage.output,
    removed: Object.values(removed).reduce((sum, tokens) => sum + tokens, 0),
    billed,
    without,
    untouched: row.untouched,
    prefix_changed: !isPassedOn && row.prefixChanged,
    tools,
    money: isPriced ? { currency: row.currency, ...paid(money) } : null,
    isHidden: requests === 0 || isPassedOn,
    origin: row.origin,
  }
}

type Bill = Pick<Account, 'billed' | 'without'>

/** A bill without what was paid. */
function savedOnly({ billed, without }: Bill): Bill {
  return { billed: 0, without: without - billed }
}
