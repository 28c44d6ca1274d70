import type { Json } from './json.ts'
import { scalar } from './plain-inline.ts'

/**
 * Reads `csv@1` as somebody would who knows CSV and `docs/reference/formats.md`, and nothing of our
 * decoder: the proof that a text can be read without it.
 */
export function readCsv(text: string): Json {
  const [header = [], ...rows] = csvRecords(text)
  return rows.map(row => {
    const members = header.flatMap((name, column) => {
      const cell = row[column]
      return cell === undefined || (!cell.quoted && cell.text === '')
        ? []
        : [[nameOf(name), cellValue(cell)]]
    })
    return Object.fromEntries(members) as Json
  })
}

export interface Cell {
  readonly text: string
  readonly quoted: boolean
}

/** Records as RFC 4180 says, with line feeds. */
export function csvRecords(text: string): Cell[][] {
  const all: Cell[][] = [[]]
  let at = 0
  while (at <= text.length) {
    const quoted = text[at] === '"'
    let cell = ''
    if (quoted) {
      at++
      while (text[at] !== '"' || text[at + 1] === '"') {
        if (at >= text.length) throw new Error('a quote is not closed')
        if (text[at] === '"') at++
        cell += text[at++]
      }
      at++
    } else {
      while (at < text.length && text[at] !== ',' && text[at] !== '\n') cell += text[at++]
    }
    all.at(-1)?.push({ text: cell, quoted })
    if (text[at] === '\n') all.push([])
    at++
  }
  return all
}

/** A name is always a string. */
function nameOf({ text, quoted }: Cell): string {
  return quoted && text.startsWith('"') ? (JSON.parse(text) as string) : text
}

function cellValue({ text, quoted }: Cell): Json {
  if (!quoted) return scalar(text)
  return /^["[{]/.test(text) ? (JSON.parse(text) as Json) : text
}
