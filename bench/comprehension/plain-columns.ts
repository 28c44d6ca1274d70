import type { Json } from './data-sets.ts'

/** `columns@1`: the rows of all tables, cells by the column's name or number; no other lines. */
export function readColumns(text: string): Json {
  const lines = text.split('\n')
  const read: Json[] = []
  while (lines.length > 0) {
    const [, count, separator = ' '] = /^\[(\d+)([ |,])\]:$/.exec(lines.shift()!) ?? []
    if (count === undefined) continue
    const columns = (lines.shift() ?? '').split(separator).map((column, at) => {
      const [name = '', ...shared] = column.split('=')
      return { name: name === '*' || name === '' ? String(at + 1) : name, shared: shared.join('=') }
    })
    for (const line of lines.splice(0, Number(count))) {
      if (!line.startsWith('|')) read.push(readRow(line, columns, separator))
    }
  }
  return read
}

function readRow(
  line: string,
  columns: readonly { name: string; shared: string }[],
  separator: string,
): Json {
  const cells = line.split(separator)
  const row = columns.map(({ name, shared }, at): [string, string] => {
    if (shared !== '' && !shared.includes('*')) return [name, shared]
    const isLast = at === columns.length - 1
    const cell = (isLast ? cells.splice(0).join(separator) : cells.shift()) ?? ''
    const said = cell === '""' ? '' : cell
    const [before = '', after = ''] = shared.split('*')
    return [name, before + said + after]
  })
  return Object.fromEntries(row)
}
