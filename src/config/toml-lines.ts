const HEADER = /^\s*(\[{1,2})([^\]]*)\]/
const KEY = /^\s*([^=#]+?)\s*=/

/**
 * The line of a TOML text at which a key stands, or the nearest table around it; from 1. For faults
 * of values, which the parser gives without their places. Keys inside inline tables have the line
 * of these.
 */
export function lineOf(source: string, path: readonly PropertyKey[]): number {
  const wanted = path.map(String)
  const counts = new Map<string, number>()
  let table: string[] = []
  let best = { line: 1, depth: 0 }
  source.split('\n').forEach((text, at) => {
    const header = HEADER.exec(text)
    const key = header === null ? KEY.exec(text) : null
    if (header !== null) table = tableOf(header, counts)
    else if (key === null) return
    const here = key === null ? table : [...table, ...namesOf(key[1]!)]
    const isOn = here.length <= wanted.length && here.every((name, i) => name === wanted[i])
    if (isOn && here.length > best.depth) best = { line: at + 1, depth: here.length }
  })
  return best.line
}

/** The path of a table, with the index of each list of tables on it. */
function tableOf([, brackets, name = '']: RegExpExecArray, counts: Map<string, number>): string[] {
  const names = namesOf(name)
  const path: string[] = []
  names.forEach((each, at) => {
    path.push(each)
    const id = path.join('\0')
    if (brackets === '[[' && at === names.length - 1) counts.set(id, (counts.get(id) ?? -1) + 1)
    const count = counts.get(id)
    if (count !== undefined) path.push(String(count))
  })
  return path
}

function namesOf(text: string): string[] {
  return text.split('.').map(name => name.trim().replace(/^(["'])(.*)\1$/, '$2'))
}
