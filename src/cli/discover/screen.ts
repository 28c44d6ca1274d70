import { change, grouped, money, tokens } from '../../book/rows/amounts.ts'
import { type Line, type Look, type Piece, shownName } from '../../console/paint.ts'
import type { Example } from '../../lab/discover/summarize-log.ts'
import { count, fact, LABEL, nameWidth, TOP, WIDEST_NAME, wrapped } from '../gain/lines.ts'
import type { DiscoverFigures, ToolFigures } from './figures.ts'

/** What the screen is of, beside its figures. */
export interface DiscoverTerms {
  readonly days: number
  readonly isAll: boolean
  /** When the oldest of the prices was read; `null`: that is unknown. */
  readonly pricesOf: string | null
  readonly example: Example | null
  /** The command that comes next. */
  readonly next: string
}

const COLUMNS: readonly number[] = [9, 10, 9]
const EXAMPLE_LINES = 8
/** Columns of our name before the head. */
const HEAD = 11

/** The one screen. */
export function screenOf(figures: DiscoverFigures, terms: DiscoverTerms, look: Look): Line[] {
  const { sessions, results } = figures
  const [of, in_] = [count(results, 'tool result'), count(sessions, 'session')]
  return [
    ...wrapped(
      [
        ['strong', 'Haversack'],
        '  ',
        `your own logs of the last ${terms.days} days: ${of} in ${in_}`,
      ],
      HEAD,
      look,
    ),
    [],
    ...billedLines(figures, terms, look),
    ...changeLines(figures, terms, look),
    [],
    ...toolLines(figures.tools.slice(0, TOP), look),
    ...(terms.example === null ? [] : [[], ...exampleLines(terms.example, look)]),
    [],
    ['  Nothing left this machine. Next: ', ['strong', terms.next]],
  ]
}

function billedLines(
  { answers, cost, unpriced }: DiscoverFigures,
  terms: DiscoverTerms,
  look: Look,
): Line[] {
  if (answers === 0) return fact('cost', ['strong', '–'], 'the logs say no usage', look)
  const of = count(answers, 'answer')
  const without = unpriced.length === 0 ? '' : `, without ${shownList(unpriced)}`
  if (cost === null) return fact('cost', ['strong', '–'], `${of}, no price${without}`, look)
  const from = terms.pricesOf === null ? '' : `, prices of ${terms.pricesOf}`
  return fact('cost', ['strong', money(cost, 'USD')], `${of}, each once${from}${without}`, look)
}

function shownList(names: readonly string[]): string {
  const [first = '', ...others] = names
  const more = others.length === 0 ? '' : ` and ${count(others.length, 'other model')}`
  return shownName(first, [...first].length).slice(0, WIDEST_NAME) + more
}

function changeLines(figures: DiscoverFigures, terms: DiscoverTerms, look: Look): Line[] {
  const { change: estimate } = figures
  if (figures.tokens === null)
    return fact('results', ['strong', '–'], 'none could be encoded', look)
  const about = `${terms.isAll ? '' : 'about '}${tokens(figures.tokens)} tokens`
  const sample = `${grouped(figures.encoded_logs)} of ${count(figures.logs, 'log')}`
  if (estimate === null) {
    const only = `of ${about}; only ${sample} encoded: add --all`
    return fact('results', ['strong', '–'], only, look)
  }
  const value: Piece = [estimate.change > 0 ? 'bad' : 'good', percent(estimate.change)]
  if (estimate.low === estimate.high) {
    return fact('results', value, `of ${about}, all of them encoded`, look)
  }
  const range = `${percent(estimate.high)} to ${percent(estimate.low)}, nine times in ten`
  return [
    ...fact('results', value, `of ${about}: ${range}`, look),
    [' '.repeat(2 + LABEL), ['dim', `${sample} encoded, drawn at random; --all encodes the rest`]],
  ]
}

/** `−33.1 %` */
function percent(part: number): string {
  return change(1, 1 + part)
}

function toolLines(tools: readonly ToolFigures[], look: Look): Line[] {
  const width = nameWidth(COLUMNS, look)
  const row = (cells: readonly string[]) =>
    cells.map((cell, at) => cell.padStart(COLUMNS[at]!)).join('')
  return [
    ['  ', ['strong', shownName('tool', width)], ['dim', row(['results', 'tokens', '%'])]],
    ...tools.map(
      ({ tool, results, tokens: size, change: part }): Line => [
        '  ',
        shownName(tool || '(unknown)', width),
        row([grouped(results), tokens(size), part === null ? '–' : percent(part)]),
      ],
    ),
  ]
}

/** The first lines of both texts, one above the other: a screen is too narrow for two columns. */
function exampleLines({ tool, before, after, tokens: sizes }: Example, look: Look): Line[] {
  const [from, to] = [grouped(sizes[0]), grouped(sizes[1])]
  const name = shownName(tool || 'a tool', [...(tool || 'a tool')].length).slice(0, WIDEST_NAME)
  const head: Line = ['  ', ['strong', `One result of ${name}`], `, before: ${from} tokens`]
  return [head, ...textLines(before, look), [`  after: ${to} tokens`], ...textLines(after, look)]
}

function textLines(text: string, { columns }: Look): Line[] {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, EXAMPLE_LINES).map(line => shownLine(line, columns - 6))
  const rest = lines.length - EXAMPLE_LINES
  const more = rest > 0 ? [`… ${count(rest, 'more line')}`] : []
  return [...shown, ...more].map(line => ['    ', ['dim', line]])
}

function shownLine(line: string, width: number): string {
  return shownName(line.replaceAll('\t', '  ').slice(0, 4 * width), width).trimEnd()
}
