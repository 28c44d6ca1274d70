import { pricesFor, type TokenPrices } from '../../core/conversation/usage/billing.ts'
import {
  FEWEST_CONVERSATIONS,
  hourPays,
  hourSaves,
  MOST_CONVERSATIONS,
} from '../../core/conversation/usage/life-rules.ts'
import { vendorNamed } from '../../core/dialects/lookup.ts'
import { netOf } from './life-account.ts'
import type { PriceList } from './price-list.ts'
import type { Conversation, TenantBill } from './tenant-bill.ts'

/** A key loses more than this share of its input bill: then nothing is bought for it any more. */
const MOST_LOST = 0.01

/** What the last conversations of a key say about lives. */
export interface LifeAdvice {
  /** Kinds of agents to which an hour would have been cheaper. */
  readonly hourKinds: readonly number[]
  /** Whether what was bought so far was a loss. */
  readonly isLoss: boolean
}

function adviceFor(
  { conversations }: Pick<TenantBill, 'conversations'>,
  key: string,
  list: PriceList,
): LifeAdvice {
  const own = conversations.filter(each => isOf(each, key))
  const kinds = new Set(own.map(({ kind }) => kind!))
  return {
    hourKinds: [...kinds].filter(kind => {
      const all = own.filter(each => each.kind === kind)
      return hourPays(all.map(sumsOf), pricesOf(all[0]!, list))
    }),
    isLoss: isLoss(own.slice(0, MOST_CONVERSATIONS), list),
  }
}

function isOf({ vendor, key, kind, account }: Conversation, wanted: string): boolean {
  return (
    vendorNamed(vendor).sellsLives === true &&
    kind !== undefined &&
    (key ?? '') === wanted &&
    account.requests > 0
  )
}

function sumsOf({ account: { requests, life } }: Conversation) {
  return { requests, bridged: life.bridged, written: life.written }
}

function pricesOf({ vendor, model }: Conversation, { builtIn, prices }: PriceList): TokenPrices {
  return pricesFor(vendor, model ?? undefined, [builtIn, prices])
}

function isLoss(all: readonly Conversation[], list: PriceList): boolean {
  let [net, input] = [0, 0]
  for (const each of all) {
    const { billed, usage, life } = each.account
    net += netOf(life)
    input += billed - usage.output * pricesOf(each, list).output
  }
  return -net > MOST_LOST * input
}

/** What other lives would have saved the last conversations of a key and kind of agent. */
export interface OtherLife {
  readonly conversations: number
  /** In uncached input tokens: what they cost, and what each life saves, below 0 if it costs. */
  readonly input: number
  readonly hour: number
  readonly guarded: number
}

/** For each key and kind with enough conversations that were cached for five minutes. */
export function otherLives(
  { conversations }: Pick<TenantBill, 'conversations'>,
  list: PriceList,
): readonly OtherLife[] {
  const agents = Map.groupBy(
    conversations.filter(each => isOf(each, each.key ?? '')),
    ({ key, kind }) => JSON.stringify([key ?? '', kind]),
  )
  return [...agents.values()].flatMap(own => {
    const all = own.slice(0, MOST_CONVERSATIONS)
    // What is written for an hour already has it.
    const isLong = all.some(({ account }) => account.usage.cache_write_long > 0)
    if (isLong || all.length < FEWEST_CONVERSATIONS) return []
    const prices = pricesOf(all[0]!, list)
    const sum = (of: (account: Conversation['account']) => number) =>
      all.reduce((total, { account }) => total + of(account), 0)
    return [
      {
        conversations: all.length,
        input: sum(({ billed, usage }) => billed - usage.output * prices.output),
        hour: hourSaves(all.map(sumsOf), prices),
        guarded: sum(({ life }) => life.guarded),
      },
    ]
  })
}

/** How long advice holds, in milliseconds. */
const ADVICE_MS = 60_000

interface AdvisorOptions {
  /** @returns `null` if the accounts cannot be read now */
  read(tenant: string): Promise<TenantBill | null>
  prices(): PriceList
  /** Unix milliseconds. */
  now(): number
  /** Called when a key's longer lives begin to be a loss. */
  onLoss(tenant: string): void
}

/** Advice by tenant and key, as of some moments ago; `undefined`: nothing is known yet. */
export type LifeAdvisor = (tenant: string, key: string) => LifeAdvice | undefined

/** Reads accounts beside the requests, which never wait for it. */
export function createLifeAdvisor({ read, prices, now, onLoss }: AdvisorOptions): LifeAdvisor {
  const asked = new Map<string, number>()
  const known = new Set<string>()
  const advice = new Map<string, LifeAdvice>()

  async function refresh(tenant: string) {
    asked.set(tenant, now())
    const ledger = await read(tenant)
    if (ledger === null) return
    known.add(tenant)
    for (const key of new Set(ledger.conversations.map(each => each.key ?? ''))) {
      const name = JSON.stringify([tenant, key])
      const newest = adviceFor(ledger, key, prices())
      if (newest.isLoss && advice.get(name)?.isLoss !== true) onLoss(tenant)
      advice.set(name, newest)
    }
  }

  return (tenant, key) => {
    const age = Math.abs(now() - (asked.get(tenant) ?? Number.NEGATIVE_INFINITY))
    if (age > ADVICE_MS) void refresh(tenant)
    if (!known.has(tenant)) return undefined
    return advice.get(JSON.stringify([tenant, key])) ?? { hourKinds: [], isLoss: false }
  }
}
