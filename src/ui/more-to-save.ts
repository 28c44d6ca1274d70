import { html } from 'hono/html'
import type { DefinitionsAccount } from '../book/bill/definitions-account.ts'
import type { SavingsFigures } from '../book/bill/figures.ts'
import type { LifeAccount } from '../book/bill/life-account.ts'
import { money, tokens } from '../book/rows/amounts.ts'
import type { GainFigures } from '../book/rows/gain-figures.ts'
import { card, type Html } from './layout.ts'
import type { MissData } from './miss-tables.ts'
import { count, time } from './show.ts'

/** Figures of the proxies since their accounts began, as `/v1/savings` has them. */
export interface AccountData {
  readonly since: number
  readonly figures: SavingsFigures
  readonly life: LifeAccount
  readonly misses: MissData
  readonly definitions: DefinitionsAccount
}

/** Something that would save more, in uncached input tokens. */
interface Tip {
  readonly name: string
  readonly worth: number
  readonly text: string
  readonly command: string
}

const MOST_TIPS = 3
/** Less is not worth a line. */
const LEAST_TOKENS = 1_000

/** At most three things that would save more, the largest first, each with its command. */
export function moreToSave({ total, currency }: GainFigures, accounts: AccountData | null): Html {
  const { bill, money: priced } = total
  // What a token of the bill costs on the whole.
  const price =
    bill === null || priced === null || bill.billed === 0 ? 0 : priced.billed / bill.billed
  const worthOf = (worth: number) =>
    price > 0 && currency !== null ? money(worth * price, currency) : `${tokens(worth)} tokens`
  const tips = (accounts === null ? [] : accountTips(accounts))
    .filter(({ worth }) => worth >= LEAST_TOKENS)
    .toSorted((a, b) => b.worth - a.worth)
    .slice(0, MOST_TIPS)
  const list =
    tips.length === 0
      ? html`<p class="none">Nothing that is known.</p>`
      : html`<ul class="tips">${tips.map(
          ({ name, worth, text, command }) =>
            html`<li><b>${name}</b> <span class="good">up to ${worthOf(worth)}</span>
<p>${text} <code>${command}</code></p></li>`,
        )}</ul>`
  const since = accounts === null ? '' : `since ${time(accounts.since).slice(0, 10)}`
  return card('more', 'More to save', list, html`<span class="unit">${since}</span>`)
}

function accountTips({ misses, definitions }: AccountData): Tip[] {
  const idle = misses.rows.find(({ reason }) => reason === 'idle')
  const unused = definitions.tokens - definitions.used
  const each = unused / Math.max(1, definitions.requests)
  return [
    ...(idle === undefined
      ? []
      : [
          {
            name: 'Pauses longer than a cache lives',
            worth: idle.cost,
            text: `${count(idle.count)} expired caches were written again. Which, and what helps:`,
            command: 'haversack gain --misses',
          },
        ]),
    {
      name: 'Tools that are never called',
      // Most of them are read from a cache, at a tenth.
      worth: unused / 10,
      text: `Their definitions are ${tokens(each)} tokens of each request. See which:`,
      command: 'haversack audit tools --logs ~/.claude/projects',
    },
  ]
}
