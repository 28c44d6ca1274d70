/**
 * Reads the formats of texts as somebody would who knows `docs/reference/formats.md`, and nothing
 * of our decoders. What a text was laid out like (padding, spacing) is in no reading.
 */
import type { Json } from './data-sets.ts'
import { csvRecords } from './plain-csv.ts'

/** What stands behind a number, by style; at most eleven blanks and digits are before it. */
const NUMBERED: Readonly<Record<string, RegExp>> = {
  arrow: /^(?=.{1,12}→) *(\d+)→(.*)$/s,
  tab: /^(?=.{1,12}\t) *(\d+)\t(.*)$/s,
  colon: /^(?=.{1,12}:) *(\d+):(.*)$/s,
}

/** `numbered@1`: the lines with their numbers; `null` for one that has none. */
export function readNumbered(text: string, style: string): Json {
  const pattern = NUMBERED[style] ?? /$^/
  const lines: { line: number | null; text: string }[] = []
  let next: number | null = null
  for (const line of text.split('\n')) {
    if (next !== null && line === '→') {
      next = null
      continue
    }
    const [, digits, rest = ''] = pattern.exec(line) ?? []
    if (next !== null) {
      lines.push({ line: next, text: next % 5 === 0 ? rest : line })
      next++
    } else {
      lines.push({ line: digits === undefined ? null : Number(digits), text: digits ? rest : line })
      next = digits === undefined ? null : Number(digits) + 1
    }
  }
  return lines
}

/** `prefixed@1`: all lines, each with its heading's text in front, as often as it stands there. */
export function readPrefixed(text: string, style: string): Json {
  const lines = text.split('\n')
  const mark = style === 'star' ? '*' : '…'
  const all: string[] = []
  let prefix = ''
  for (const line of lines) {
    const [, times] = /^×(\d+)$/.exec(line) ?? []
    if (times !== undefined) {
      const last = all.at(-1) ?? ''
      for (let n = 1; n < Number(times); n++) all.push(last)
    } else if (prefix === '' && line.endsWith(mark)) prefix = line.slice(0, -mark.length)
    else if (prefix !== '' && line === '') prefix = ''
    else all.push(prefix + line)
  }
  return all
}

/** `md@1`: the tables, each a list of rows, cells by the column's name. */
export function readMarkdownTables(text: string): Json {
  // How lines end is nothing that a reader sees.
  const tables = text
    .replaceAll('\r\n', '\n')
    .matchAll(/^ *```csv(?: [-lcr]+)?\n([\s\S]*?)\n```$/gm)
  return [...tables].map(([, table = '']) => {
    const [header = [], ...rows] = csvRecords(table)
    return rows.map(row =>
      Object.fromEntries(header.map(({ text: name }, column) => [name, row[column]?.text ?? ''])),
    )
  })
}

/** `embedded@1`: the values in the fences. */
export function readEmbedded(text: string, read: (format: string, text: string) => Json): Json {
  const fences = text.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)
  return [...fences].map(([, format = '', value = '']) => read(format, value))
}
