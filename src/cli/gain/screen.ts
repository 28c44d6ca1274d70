import { change, grouped, isoDay, money, shortDay, tokens } from '../../book/rows/amounts.ts'
import { type By, type GainFigures, type Part, withRest } from '../../book/rows/gain-figures.ts'
import { type Line, type Look, type Piece, shownName, type Tone } from '../../console/paint.ts'
import { count, fact, LABEL, nameWidth, TOP, WIDEST_NAME, wrapped } from './lines.ts'

/** What the screen is of, beside its figures. */
export interface ScreenTerms {
  readonly project: string | null
  /** When the oldest of the published prices was read, `2026-11-28`; `null`: that is unknown. */
  readonly pricesOf: string | null
  /** Days since then. */
  readonly pricesAge: number
}

/** Columns of a table after the name: before, after, change, saved. */
const COLUMNS: readonly number[] = [10, 10, 9, 11]
const OLD_DAYS = 90

/** What parts without a name are. */
const NAMELESS: Readonly<Record<By, string>> = {
  day: '–',
  week: '–',
  month: '–',
  team: '–',
  way: '(unknown)',
  project: '(no repository)',
  agent: '(unknown)',
  model: '(no model)',
  tool: '(rest of the prompt)',
}

/** The one screen: the whole, a bar a day, and where it was. */
export function screenOf(figures: GainFigures, terms: ScreenTerms, look: Look): readonly Line[] {
  const { total, by, currency } = figures
  const days = figures.to - figures.from + 1
  const of = terms.project === null ? 'all ways in' : `project ${projectOf(terms.project)}`
  const head: Line = [['strong', 'Haversack'], `  the last ${grouped(days)} days, ${of}`]
  if (total.results === 0 && total.requests === 0) {
    return [
      head,
      [],
      ['  Nothing was recorded. This records something:'],
      ['  haversack run -- claude'],
    ]
  }
  const tables = (['project', 'agent', 'tool'] as const).flatMap(dimension => [
    [],
    ...tableOf(dimension, withRest(by[dimension], TOP), currency, look),
  ])
  return [
    head,
    [],
    ...savedLines(figures, terms, look),
    ...resultLines(total, look),
    ...lostLines(total, look),
    [],
    ...chartOf(figures, look),
    ...tables,
    [],
    ...remarksOf(figures, terms).flatMap(text => wrapped([['dim', text]], 2, look)),
    ...wrapped([['dim', FOOT]], 2, look),
  ]
}

function projectOf(name: string): string {
  return shownName(name || '(none)', WIDEST_NAME).trimEnd()
}

const FOOT = 'haversack gain --by day|project|agent|model|tool · --days 7 · --json · --help'

/** One table with all parts, and their sum. */
export function partsOf(by: By, figures: GainFigures, look: Look): readonly Line[] {
  const all = { ...figures.total, name: 'all' }
  return tableOf(by, [...figures.by[by], all], figures.currency, look)
}

function savedLines({ total, currency }: GainFigures, terms: ScreenTerms, look: Look): Line[] {
  const { bill, money: priced } = total
  const requests = count(total.requests, 'request')
  if (priced !== null && currency !== null) {
    const saved = priced.without - priced.billed
    const from = terms.pricesOf === null ? '' : `, prices of ${terms.pricesOf}`
    const share = change(priced.without, priced.billed)
    const rest = `of ${money(priced.without, currency)} (${share}), ${requests}${from}`
    return fact('saved', [toneOf(saved), money(saved, currency)], rest, look)
  }
  if (bill === null) {
    const why = 'no bill is known: hooks, MCP and encode see none'
    return fact('saved', ['strong', '–'], why, look)
  }
  const { without, billed } = bill
  const sums = `${tokens(without)} → ${tokens(billed)}`
  const rest = `of the bill: ${sums} at the price of uncached input, ${requests}`
  return fact('saved', [toneOf(without - billed), change(without, billed)], rest, look)
}

function resultLines({ results, before, after }: Part, look: Look): Line[] {
  const rest = `${tokens(before)} → ${tokens(after)} tokens, ${count(results, 'result')}, each once`
  const tone = after > before ? 'bad' : 'strong'
  return fact('results', [tone, change(before, after)], rest, look)
}

function lostLines({ omitted, fetched, prefix_changes: broken }: Part, look: Look): Line[] {
  const times = fetched === 1 ? 'once' : `${grouped(fetched)} times`
  const back = fetched === 0 ? '' : `, fetched ${times}`
  const left =
    omitted === 0
      ? 'every result decodes'
      : `${tokens(omitted)} tokens left out, to be fetched back${back}`
  const caches = `${count(broken, 'cache')} broken`
  if (broken === 0) return fact('lost', ['strong', '0'], `${left}; ${caches}`, look)
  return fact(
    'lost',
    ['bad', `−${grouped(broken)}`],
    `${caches} by a change of ours; ${left}`,
    look,
  )
}

function toneOf(saved: number): Tone {
  return saved < 0 ? 'bad' : 'good'
}

/** From here on days need their year. */
const LONG_DAYS = 300
const BARS = '▁▂▃▄▅▆▇█'

/** A bar for each day, or for several if there is no room; red with a minus sign for a loss. */
function chartOf({ by, from, to, currency }: GainFigures, look: Look): Line[] {
  const isLong = to - from >= LONG_DAYS
  const room = look.columns - 2 - LABEL - (isLong ? 28 : 18)
  const each = Math.ceil((to - from + 1) / room)
  const saved: number[] = Array(Math.ceil((to - from + 1) / each)).fill(0)
  const dayOf = new Map(Array.from({ length: to - from + 1 }, (_, at) => [isoDay(from + at), at]))
  for (const part of by.day) {
    const at = Math.floor((dayOf.get(part.name) ?? 0) / each)
    saved[at] = (saved[at] ?? 0) + savedOf(part, currency)
  }
  const most = saved.reduce((highest, amount) => Math.max(highest, amount), 0)
  const bars = saved.map((amount): Piece => {
    if (amount < 0) return ['bad', '−']
    if (amount === 0) return ['dim', '·']
    return ['good', BARS[Math.min(7, Math.floor((8 * amount) / most))] as string]
  })
  const label = each === 1 ? 'by day' : `by ${each} days`
  const span = [from, to].map(day => shortDay(day) + (isLong ? ` ${isoDay(day).slice(0, 4)}` : ''))
  return [[`  ${label.padEnd(LABEL)}`, ...bars, ['dim', `  ${span.join(' to ')}`]]]
}

function savedOf({ money: priced, before, after }: Part, currency: string | null): number {
  if (currency === null) return before - after
  return priced === null ? 0 : priced.without - priced.billed
}

function tableOf(
  by: By,
  parts: readonly Part[],
  currency: string | null,
  look: Look,
): readonly Line[] {
  const width = nameWidth(COLUMNS, look)
  const heads = ['before', 'after', '%', 'saved'].map((head, at) => head.padStart(COLUMNS[at]!))
  // The first head may begin in the column of names.
  const first = width > 22 ? 'tokens before' : 'before'
  heads[0] = first.padStart(COLUMNS[0]!)
  const over = Math.max(0, first.length - COLUMNS[0]!)
  return [
    ['  ', ['strong', shownName(by, width - over)], ['dim', heads.join('')]],
    ...parts.map(part => rowOf(part, part.name || NAMELESS[by], width, currency)),
  ]
}

function rowOf(part: Part, name: string, width: number, currency: string | null): Line {
  const { before, after, bill, money: priced } = part
  const isCounted = part.results > 0
  const [from, to] = isCounted ? [tokens(before), tokens(after)] : ['–', '–']
  const grew: Tone = after > before ? 'bad' : 'plain'
  const cell = (text: string, at: number) => text.padStart(COLUMNS[at]!)
  const counts = cell(from, 0) + cell(to, 1)
  const share: Piece = [grew, cell(isCounted ? change(before, after) : '–', 2)]
  return ['  ', shownName(name, width), counts, share, savedCell()]

  /** Money, if there is any on the screen; else uncached input tokens. */
  function savedCell(): Piece {
    if (currency !== null && priced !== null) {
      const saved = priced.without - priced.billed
      return [toneOf(saved), cell(money(saved, currency), 3)]
    }
    if (currency !== null || bill === null) return ['dim', cell('–', 3)]
    const saved = bill.without - bill.billed
    return [toneOf(saved), cell(tokens(saved), 3)]
  }
}

function remarksOf({ unpriced }: GainFigures, { pricesOf, pricesAge }: ScreenTerms): string[] {
  const named = unpriced
    .slice(0, 3)
    .map(name => shownName(name, Math.min(WIDEST_NAME, name.length)))
  const more = unpriced.length > 3 ? ` and ${unpriced.length - 3} more` : ''
  return [
    ...(unpriced.length === 0
      ? []
      : [
          `No price is known of ${named.join(', ')}${more}: in no sum of money. ` +
            '[savings] prices can name one.',
        ]),
    ...(pricesAge > OLD_DAYS && pricesOf !== null
      ? [`The published prices are of ${pricesOf}, ${pricesAge} days ago: they may have changed.`]
      : []),
  ]
}
