import type { Json } from './data-sets.ts'
import { readCsv } from './plain-csv.ts'
import { readKv } from './plain-kv.ts'
import { readTree } from './plain-tree.ts'

/** Plain readers by the name of the format, without its version. */
const READERS: Readonly<Record<string, (text: string) => Json>> = {
  csv: readCsv,
  kv: readKv,
  tree: readTree,
  json_pretty: text => JSON.parse(text) as Json,
  json_compact: text => JSON.parse(text) as Json,
}

/** The data that a text says, read without our decoder. Throws for a format that has no plain reader. */
export function readPlainly(format: string, text: string): Json {
  const name = format.replace(/@.*/, '')
  const read = READERS[name]
  if (read === undefined) throw new Error(`no plain reader for ${format}`)
  return read(text)
}
