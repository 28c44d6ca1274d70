type Cell = string | number

/**
 * A Markdown table. Columns of numbers are set right. A number has thousands separators and three
 * significant digits, or all of those before its point.
 */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const isNumeric = header.map((_, column) => rows.every(row => isNumber(row[column] ?? '')))
  return [
    line(header),
    `|${isNumeric.map(numeric => (numeric ? '---:' : '---')).join('|')}|`,
    ...rows.map(row => line(row.map(cellText))),
  ].join('\n')
}

/** A table of equal objects, with their keys as its header. */
export function tableOf(rows: readonly object[]): string {
  const cells = rows.map(row =>
    Object.values(row).map((cell: unknown) => (typeof cell === 'number' ? cell : String(cell))),
  )
  return markdownTable(Object.keys(rows[0] ?? {}), cells)
}

function isNumber(cell: Cell): boolean {
  return typeof cell === 'number' || /^[\d.,]+( %)?$|^–$/.test(cell)
}

function cellText(cell: Cell): string {
  if (typeof cell === 'string') return cell
  const digits =
    Math.abs(cell) < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 }
  return cell.toLocaleString('en-US', digits)
}
