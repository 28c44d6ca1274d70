import { BoundedMap } from '../core/base/bounded-map.ts'

const HEADER = /^\s*(\[{1,2})([^\]]*)\]/
const KEY = /^\s*([^=#]+?)\s*=/

/** Between the names of a path; no key has it. */
const BETWEEN = '\0'
/** Texts whose lines are remembered: a configuration has few layers. */
const REMEMBERED = 8

const indexes = new BoundedMap<string, ReadonlyMap<string, number>>(REMEMBERED)

/**
 * The line of a TOML text at which a key stands, or the nearest table around it; from 1. For faults
 * of values, which the parser gives without their places. Keys inside inline tables have the line
 * of these. The lines of a text are looked for once, since a file may have thousands of faults.
 */
export function lineOf(source: string, path: readonly PropertyKey[]): number {
  const lines = indexes.get(source) ?? linesOf(source)
  indexes.set(source, lines)
  for (let depth = path.length; depth > 0; depth--) {
    const line = lines.get(path.slice(0, depth).map(String).join(BETWEEN))
    if (line !== undefined) return line
  }
  return 1
}

/** The first line of each table and key, by its path. */
function linesOf(source: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  const counts = new Map<string, number>()
  let table: string[] = []
  for (const [at, text] of source.split('\n').entries()) {
    const header = HEADER.exec(text)
    const key = header === null ? KEY.exec(text) : null
    if (header !== null) table = tableOf(header, counts)
    else if (key === null) continue
    const here = (key === null ? table : [...table, ...namesOf(key[1]!)]).join(BETWEEN)
    if (!lines.has(here)) lines.set(here, at + 1)
  }
  return lines
}

/** The path of a table, with the index of each list of tables on it. */
function tableOf([, brackets, name = '']: RegExpExecArray, counts: Map<string, number>): string[] {
  const names = namesOf(name)
  const path: string[] = []
  names.forEach((each, at) => {
    path.push(each)
    const id = path.join(BETWEEN)
    if (brackets === '[[' && at === names.length - 1) counts.set(id, (counts.get(id) ?? -1) + 1)
    const count = counts.get(id)
    if (count !== undefined) path.push(String(count))
  })
  return path
}

function namesOf(text: string): string[] {
  return text.split('.').map(name => name.trim().replace(/^(["'])(.*)\1$/, '$2'))
}
