import { decode as fromToon } from '@toon-format/toon'
import type { Json } from './json.ts'
import { readCsv } from './plain-csv.ts'
import { readAgain, readTrimmed } from './plain-sessions.ts'
import {
  readDiff,
  readMarkdownTables,
  readNumbered,
  readPrefixed,
  readStrings,
  readTemplated,
  readTerminal,
} from './plain-texts.ts'
import { readTree } from './plain-tree.ts'

/** A reading of a text; the style says which mark or which format is in it. */
type PlainReader = (text: string, style: string) => Json

/** Plain readers by the name of the format, without its version. */
const READERS: Readonly<Record<string, PlainReader>> = {
  csv: readCsv,
  tree: readTree,
  json_pretty: text => JSON.parse(text) as Json,
  json_compact: text => JSON.parse(text) as Json,
  toon: text => fromToon(text) as Json,
  numbered: readNumbered,
  diff: readDiff,
  prefixed: readPrefixed,
  templated: readTemplated,
  md: readMarkdownTables,
  ndjson: (text, style) => readPlainly(innerFormat(style), text),
  terminal: (text, style) => readTerminal(text, style, readPlainly),
  lines: readAgain,
  trimmed: (text, style) => readTrimmed(text, style, readPlainly),
  strings: (text, style) => readStrings(text, style, readPlainly),
  json: readJsonText,
  mcp: (text, style) => structuredContent(readPlainly(innerFormat(style), text)),
}

/**
 * The data that a text says, read without our decoder. Throws for a format that has no plain
 * reader.
 */
export function readPlainly(format: string, text: string): Json {
  const [base = '', style = ''] = format.split(';')
  const name = base.replace(/@.*/, '')
  const read = READERS[name]
  if (read === undefined) throw new Error(`no plain reader for ${format}`)
  return read(text, style)
}

/** `json@1`: the JSON as a text, without white space but a line feed at its end. */
function readJsonText(text: string, style: string): Json {
  const [spacing = '', base, ...rest] = style.split(',')
  const format = rest.length === 0 ? base! : `${base};${rest.join(',')}`
  return JSON.stringify(readPlainly(format, text)) + (spacing.startsWith('ended_') ? '\n' : '')
}

/** The format after the spacing: `csv@1` of `python,csv@1`. */
function innerFormat(style: string): string {
  return style.split(',')[1] ?? ''
}

function structuredContent(result: Json): Json {
  return (result as { readonly structuredContent?: Json }).structuredContent ?? null
}
