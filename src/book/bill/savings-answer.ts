import type { SavingsAnswer, SavingsQuery } from '../../core/contract/savings.ts'
import { pricesFor } from '../../core/conversation/usage/billing.ts'
import { VENDOR_NAMES } from '../../core/dialects/lookup.ts'
import { PROFILES, TOKENIZER_IDS } from '../../core/tokens/profiles.ts'
import { type Account, addAccounts, NO_ACCOUNT } from './account.ts'
import type { BudgetState } from './budgets.ts'
import type { DefinitionsAccount } from './definitions-account.ts'
import { figuresOf } from './figures.ts'
import { type LifeAccount, netOf } from './life-account.ts'
import { otherLives } from './life-advice.ts'
import { missRows } from './misses.ts'
import type { PriceList } from './price-list.ts'
import type { TenantBill } from './tenant-bill.ts'

const BASELINE =
  'the same requests with their tool results as the client sent them, each removed token billed as the place where it stood'

/** The answer for a tenant, from its ledger. */
export function savingsAnswer(
  ledger: TenantBill,
  { conversation, session, limit }: SavingsQuery,
  list: PriceList,
  budgets: readonly BudgetState[] = [],
): SavingsAnswer {
  const { since, vendors, conversations } = ledger
  const wanted = conversations.filter(
    each =>
      isAnswered(each.account) &&
      (conversation === undefined || each.id === conversation) &&
      (session === undefined || each.session === session),
  )
  const sum = wanted.map(({ account }) => account).reduce(addAccounts, NO_ACCOUNT)
  return {
    scope: 'proxies',
    baseline: BASELINE,
    since,
    vendors: Object.fromEntries(
      Object.entries(vendors)
        .filter(([, account]) => isAnswered(account))
        .map(([vendor, account]) => [vendor, accountAnswer(account, list.currency)]),
    ),
    conversations: wanted
      .slice(0, limit)
      .map(({ id, cached: _, seen: _seen, key: _key, kind: _kind, change, account, ...about }) => ({
        conversation: id,
        ...about,
        ...(change && { changed: change }),
        ...accountAnswer(account, list.currency),
      })),
    ...(session === undefined
      ? {}
      : { session: { session, ...accountAnswer(sum, list.currency) } }),
    ...(budgets.length === 0
      ? {}
      : {
          budgets: budgets.map(({ period, of, amount, spent }) => ({
            period,
            of,
            amount,
            spent: Number(spent.toFixed(4)),
          })),
        }),
    other_lives: otherLives(ledger, list).map(({ conversations, input, hour, guarded }) => ({
      conversations,
      input: rounded(input),
      hour: rounded(hour),
      guarded: rounded(guarded),
    })),
    prices: pricesAnswer(list),
  }
}

/** Others have results only, of requests that were not answered yet or counted tokens. */
function isAnswered({ requests }: Account): boolean {
  return requests > 0
}

function accountAnswer(account: Account, currency: string) {
  const { requests, without_usage, usage, removed, billed, without, money } = account
  return {
    figures: figuresAnswer(account),
    requests,
    without_usage,
    usage: {
      uncached_tokens: usage.uncached,
      cache_read_tokens: usage.cache_read,
      cache_write_tokens: usage.cache_write,
      cache_write_long_tokens: usage.cache_write_long,
      output_tokens: usage.output,
    },
    removed: TOKENIZER_IDS.filter(id => (removed[id] ?? 0) !== 0).map(tokenizer => ({
      tokenizer,
      exact: PROFILES[tokenizer].exact,
      tokens: removed[tokenizer] as number,
    })),
    misses: missRows(account.misses),
    ...lifeAnswer(account.life),
    ...definitionsAnswer(account.definitions),
    input_tokens: billAnswer({ billed, without }, 1),
    ...(money.requests === 0
      ? {}
      : { money: { requests: money.requests, currency, ...billAnswer(money, 4) } }),
  }
}

const rounded = (amount: number) => Number(amount.toFixed(1))

/** What we did about lives; nothing if that is all we did. */
function lifeAnswer(life: LifeAccount) {
  const { pings, premium, pinged, avoided } = life
  if (pings === 0 && premium === 0 && avoided === 0) return {}
  const costs = { premium: rounded(premium), pinged: rounded(pinged), avoided: rounded(avoided) }
  return { life: { pings, ...costs, saving: rounded(netOf(life)) } }
}

/** What definitions of tools cost; nothing if no request had any. */
function definitionsAnswer({ requests, spared, searched, ...counts }: DefinitionsAccount) {
  if (requests === 0) return {}
  const costs = { spared: rounded(spared), searched: rounded(searched) }
  return { definitions: { requests, ...counts, ...costs, saving: rounded(spared - searched) } }
}

function figuresAnswer(account: Account) {
  const { billed, ...counts } = figuresOf(account)
  if (billed === null) return { ...counts, billed }
  const { billed: after, without: before } = billAnswer(
    {
      billed: billed.after,
      without: billed.before,
    },
    1,
  )
  return { ...counts, billed: { before, after } }
}

function billAnswer({ billed, without }: { billed: number; without: number }, digits: number) {
  const round = (amount: number) => Number(amount.toFixed(digits))
  return { billed: round(billed), without: round(without), saving: round(without - billed) }
}

/** The prices of each vendor, and of each configured prefix of models' names. */
function pricesAnswer({ builtIn, prices: own }: PriceList): SavingsAnswer['prices'] {
  const layers = [builtIn, own]
  const prices: SavingsAnswer['prices'] = {}
  for (const vendor of VENDOR_NAMES) {
    prices[vendor] = { uncached: 1, ...pricesFor(vendor, undefined, layers) }
  }
  for (const { vendor, model } of own) {
    if (model === undefined) continue
    prices[`${vendor}/${model}`] = { uncached: 1, ...pricesFor(vendor, model, layers) }
  }
  return prices
}
