import { z } from 'zod'
import { VENDOR_NAMES, type VendorName } from '../../core/dialects/lookup.ts'
import { type Account, accountSchema, addAccounts, NO_ACCOUNT } from './account.ts'
import { addToolUse, toolUseSchema } from './agent-tools.ts'
import { seenPromptSchema } from './seen-prompt.ts'

/** Conversations of a tenant that are listed one by one; older ones are in the totals only. */
const MAX_CONVERSATIONS = 200

const time = z.int().nonnegative()

const conversationSchema = z.object({
  vendor: z.enum(VENDOR_NAMES),
  /** Names it by its opening: 16 hex digits. */
  id: z.string(),
  /** What the agent calls its session, if it says so; it may have several conversations. */
  session: z.string().optional(),
  /** The model that answered last, as the provider names it. */
  model: z.string().nullable(),
  first_at: time,
  last_at: time,
  /** Tokens that the provider had in its cache after the last request. */
  cached: z.int().nonnegative(),
  /** The last prompt that was answered; ledgers of earlier versions have none. */
  seen: seenPromptSchema.optional(),
  /** The key that sent it, and the kind of agent: a digest of the names of its tools. */
  key: z.string().optional(),
  kind: z.number().optional(),
  /** What the client changed last so that a cache was lost. */
  change: z.object({ place: z.string(), kind: z.string() }).optional(),
  account: accountSchema,
})

const ledgerSchema = z.object({
  /** Identifies the last change in the ledger, so that its writer can recognise it. */
  stamp: z.string(),
  since: time,
  vendors: z.partialRecord(z.enum(VENDOR_NAMES), accountSchema),
  conversations: z.array(conversationSchema).max(MAX_CONVERSATIONS),
  /** Which tools its agents call; ledgers of earlier versions have none. */
  uses: z.array(toolUseSchema).default([]),
})

export type Conversation = Readonly<z.output<typeof conversationSchema>>

/**
 * What is known of a tenant: totals of everything since `since`, and the conversations that were
 * active last.
 */
export type TenantBill = Readonly<z.output<typeof ledgerSchema>>

export function emptyBill(now: number): TenantBill {
  return { stamp: '', since: now, vendors: {}, conversations: [], uses: [] }
}

/**
 * The sum of both ledgers, with the stamp of the first. No total depends on which conversations are
 * still listed one by one.
 */
export function addBills(a: TenantBill, b: TenantBill): TenantBill {
  const vendors: Partial<Record<VendorName, Account>> = { ...a.vendors }
  for (const vendor of VENDOR_NAMES) {
    const more = b.vendors[vendor]
    if (more !== undefined) vendors[vendor] = addAccounts(vendors[vendor] ?? NO_ACCOUNT, more)
  }
  const conversations = new Map(a.conversations.map(each => [keyOf(each), each]))
  for (const each of b.conversations) {
    const known = conversations.get(keyOf(each))
    conversations.set(keyOf(each), known === undefined ? each : addConversations(known, each))
  }
  return {
    stamp: a.stamp,
    since: Math.min(a.since, b.since),
    vendors,
    conversations: [...conversations.values()].sort(byRecency).slice(0, MAX_CONVERSATIONS),
    uses: addToolUse(a.uses, b.uses),
  }
}

/** Conversations of two sessions may have the same opening. */
function keyOf({ vendor, id, session }: Pick<Conversation, 'vendor' | 'id' | 'session'>): string {
  return `${vendor} ${id} ${session ?? ''}`
}

function addConversations(a: Conversation, b: Conversation): Conversation {
  const later = b.last_at >= a.last_at ? b : a
  const earlier = later === b ? a : b
  const seen = laterPrompt(later.seen, earlier.seen)
  const change = later.change ?? earlier.change
  return {
    ...earlier,
    ...later,
    ...(seen && { seen }),
    ...(change && { change }),
    model: later.model ?? a.model ?? b.model,
    // Only an answer tells what is in the cache.
    cached: later.account.requests > 0 ? later.cached : earlier.cached,
    first_at: Math.min(a.first_at, b.first_at),
    account: addAccounts(a.account, b.account),
  }
}

function laterPrompt(a: Conversation['seen'], b: Conversation['seen']): Conversation['seen'] {
  return a === undefined || (b !== undefined && b.at > a.at) ? b : a
}

/**
 * Latest first. Those of one moment are in the order of their names, so that every process keeps
 * the same ones.
 */
function byRecency(a: Conversation, b: Conversation): number {
  if (a.last_at !== b.last_at) return b.last_at - a.last_at
  return keyOf(a) < keyOf(b) ? -1 : 1
}

export function writeBill(ledger: TenantBill): Uint8Array {
  return Buffer.from(JSON.stringify(ledger))
}

/** Returns `null` if the bytes are not a ledger. */
export function readBill(bytes: Uint8Array): TenantBill | null {
  try {
    return ledgerSchema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    return null
  }
}
