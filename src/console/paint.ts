import type { Env } from '../config/env.ts'

/** What text means, which its colour repeats: never the colour alone. */
export type Tone = 'plain' | 'strong' | 'dim' | 'good' | 'bad' | 'ref'

/** A piece of a line. */
export type Piece = string | readonly [tone: Tone, text: string]

export type Line = readonly Piece[]

/** How a terminal shows text. */
export interface Look {
  readonly columns: number
  readonly hasColor: boolean
  /** Whether it shows more than ASCII. */
  readonly hasUnicode: boolean
}

const [LEAST, MOST] = [60, 100]
const CODES: Readonly<Record<Tone, string>> = {
  plain: '',
  strong: '1',
  dim: '2',
  good: '32',
  bad: '31',
  ref: '36',
}

/** How an output shows text, by the conventions of terminals (no-color.org, force-color.org). */
export function lookOf(
  env: Env,
  out: { readonly isTTY?: boolean; readonly columns?: number },
): Look {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  const columns = out.columns ?? (Number(env['COLUMNS']) || 80)
  const isForced = !['', '0', 'false'].includes(env['FORCE_COLOR'] ?? '')
  const isOff = (env['NO_COLOR'] ?? '') !== '' || env['FORCE_COLOR'] === '0'
  const isTerminal = out.isTTY === true && env['TERM'] !== 'dumb'
  return {
    columns: Math.min(MOST, Math.max(LEAST, columns)),
    hasColor: !isOff && (isForced || isTerminal),
    hasUnicode: locale === '' ? process.platform !== 'linux' : /utf-?8/i.test(locale),
  }
}

/** A line of pieces, as the output shows it. */
export function paint(pieces: readonly Piece[], { hasColor, hasUnicode }: Look): string {
  const line = pieces.map(piece => {
    const [tone, text] = typeof piece === 'string' ? (['plain', piece] as const) : piece
    const shown = hasUnicode ? text : inAscii(text)
    return tone === 'plain' || !hasColor ? shown : `\x1b[${CODES[tone]}m${shown}\x1b[0m`
  })
  return hasColor ? line.join('') : line.join('').trimEnd()
}

/** Each sign as one of ASCII, so that columns stay. */
const SIGNS: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '→': '>',
  '…': '~',
  '·': '.',
  '×': 'x',
  '▁': '_',
  '▂': ':',
  '▃': '-',
  '▄': '=',
  '▅': '+',
  '▆': '*',
  '▇': '%',
  '█': '#',
}

function inAscii(text: string): string {
  return text.replace(/[^\t\x20-\x7e]/gu, sign => SIGNS[sign] ?? '?')
}

/** Control characters of names, which a terminal would obey, and signs that turn its text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A name from elsewhere, cut to a width. */
export function shownName(name: string, width: number): string {
  const all = [...name.replace(UNSAFE, '?')]
  const text = all.length > width ? `${all.slice(0, width - 1).join('')}…` : all.join('')
  return text + ' '.repeat(Math.max(0, width - [...text].length))
}
