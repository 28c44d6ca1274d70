/**
 * Reads the formats of texts as somebody would who knows `docs/reference/formats.md`, and nothing
 * of our decoders. What a text was laid out like (padding, spacing) is in no reading.
 */
import type { Json } from './json.ts'
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
    if (next !== null && line === '→ end') {
      next = null
      continue
    }
    if (line.startsWith('> [') || line.startsWith('[… line')) next = null
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
  const mark = style.startsWith('star') ? '*' : '…'
  const all: string[] = []
  let prefix = ''
  for (const line of lines) {
    const [, times, block = '1'] = /^×(\d+)(?: \((\d) lines\))?$/.exec(line) ?? []
    if (times !== undefined) {
      const last = all.slice(-Number(block))
      for (let n = 1; n < Number(times); n++) all.push(...last)
    } else if (prefix === '' && line.endsWith(mark)) prefix = line.slice(0, -mark.length)
    else if (prefix !== '' && line === '') prefix = ''
    else all.push(prefix + line)
  }
  return all
}

/**
 * `diff@1`, and unified diffs as they are: each line of a hunk or of a whole file by its sign, with
 * its number in the new file, or in the only one that there is.
 */
export function readDiff(text: string): Json {
  const lines = text.split('\n')
  const read: { line: number; sign: string; text: string }[] = []
  const take = (line: number, sign: string, content: string) =>
    read.push({ line, sign, text: content })
  for (let at = 0; at < lines.length; ) {
    const header = lines[at++]!
    const whole = /^@@ ([+-])(\d{1,9}) @@$/.exec(header)
    if (whole !== null && lines[at - 2] === '+++') {
      const [, sign = '', count] = whole
      for (let n = 1; n <= Number(count); n++) take(n, sign, lines[at++] ?? '')
      continue
    }
    const short = /^@@ (?:-\d{1,9} \+)?(\d{1,9}) @@/.exec(header)
    const full = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(header)
    if (short === null && full === null) continue
    const [, before = '1', start = '0', after = '1'] = full ?? []
    // Without counts the first characters tell which lines are meant.
    let old = short === null ? Number(before) : Number.POSITIVE_INFINITY
    let fresh = short === null ? Number(after) : Number.POSITIVE_INFINITY
    let line = Number(short?.[1] ?? start)
    for (; at < lines.length && (old > 0 || fresh > 0); at++) {
      const sign = lines[at]!.charAt(0)
      const isBlank = sign === '' || sign === '\r'
      if (!' +-\\'.includes(sign) || (isBlank && short !== null)) break
      if (sign !== '+' && sign !== '\\') old--
      if (sign !== '-' && sign !== '\\') fresh--
      take(line, sign, lines[at]!.slice(1))
      if (sign !== '-' && sign !== '\\') line++
    }
  }
  return read
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

/**
 * `strings@1`: JSON with names of texts, and the texts below it, each after its heading; a single
 * one is below an empty line, or all that there is of a result.
 */
export function readStrings(
  text: string,
  style: string,
  read: (format: string, text: string) => Json,
): Json {
  const texts = new Map<string, Json>()
  const take = (name: string, body: string, inner: string | undefined) => {
    const said = inner === undefined ? body : read(inner, body)
    texts.set(name, Array.isArray(said) ? said.join('\n') : said)
  }
  const [count = '', format = '', ...alone] = style.split(',')
  if (count.startsWith('result')) {
    take('below', text, innerOf([format, ...alone]))
    const content = [{ type: 'text', text: texts.get('below') ?? text }]
    return count === 'result_ok' ? { content, isError: false } : { content }
  }
  const lines = text.split('\n')
  const frame = lines.splice(0, Number(count)).join('\n')
  if (alone.length > 0) take('below', lines.splice(0).slice(1).join('\n'), innerOf(alone.slice(1)))
  while (lines.length > 0) {
    const [name = '', size = '', inner] = lines.shift()!.split(', ')
    take(name, lines.splice(0, Number.parseInt(size, 10)).join('\n'), inner)
  }
  const fill = (value: Json): Json => {
    if (typeof value === 'string') return texts.get(value) ?? value
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(fill)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)]))
  }
  return fill(read(format, frame))
}

/** The format at the end of a style, as an answer has it; `undefined` if there is none. */
function innerOf([base = '', ...style]: readonly string[]): string | undefined {
  if (base === '') return undefined
  return style.length === 0 ? base : `${base};${style.join(',')}`
}

/** `templated@1`: the lines of the text, each row put into the template that is named above it. */
export function readTemplated(text: string): Json {
  const end = text.indexOf('\n\n')
  const templates = new Map<string, { text: string; separator: string }>()
  for (const line of text.slice(0, end).split('\n')) {
    const colon = line.indexOf(': ')
    const sign = line.slice(1, colon)
    templates.set(line.charAt(0), { text: line.slice(colon + 2), separator: sign || ' ' })
  }
  const out: string[] = []
  let name = ''
  for (const row of text.slice(end + 2).split('\n')) {
    if (templates.has(row)) {
      name = row
      continue
    }
    const { text: template, separator } = templates.get(name) ?? { text: '{1}', separator: ' ' }
    const cells = template.includes('{2}') ? row.split(separator) : [row]
    const fill = () => template.replace(/\{(\d+)\}/g, (_, place) => cells[Number(place) - 1] ?? '')
    out.push(row === '' ? '' : fill())
  }
  return out
}

/** `terminal@1`: the lines that are left on a screen without colours. */
export function readTerminal(
  text: string,
  style: string,
  read: (format: string, text: string) => Json,
): Json {
  const [legend = '', ...lines] = text.split('\n')
  const signs = new Set(legend.split(' ').map(word => word.charAt(0)))
  const inner = style.replace(',', ';')
  const rest = lines.join('\n')
  const all = (style === '' ? rest.split('\n') : read(inner, rest)) as readonly string[]
  const shown: string[] = []
  for (const line of all) {
    if (signs.has('←') && line.startsWith('←')) shown.pop()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: rare sequences stay as they are.
    const bare = line.replace(/\u001b\[[\d;?]*[A-Za-z]/g, '')
    shown.push([...bare].filter(char => !signs.has(char)).join(''))
  }
  return shown
}
