/** Rows with their cells padded to columns, two spaces apart. Numbers are set right, text left. */
export function alignColumns(rows: readonly (readonly (string | number)[])[]): string[] {
  const texts = rows.map(row => row.map(format))
  const widths: number[] = []
  for (const row of texts) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
    })
  }
  return rows.map((row, index) =>
    row
      .map((cell, column) => {
        const text = texts[index]?.[column] ?? ''
        const width = widths[column] ?? 0
        return typeof cell === 'number' ? text.padStart(width) : text.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** A table with a header and a rule; a column is set right if its cells are numbers. */
export function table(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = alignColumns([header, ...rows])
  const width = lines.reduce((most, line) => Math.max(most, line.length), 0)
  return [lines[0], '-'.repeat(width), ...lines.slice(1)].join('\n')
}

/** A table of the first rows, and how many more there are. */
export function firstRows(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  most: number,
): string {
  const more = rows.length > most ? `\n… and ${rows.length - most} more (--json)` : ''
  return table(header, rows.slice(0, most)) + more
}

function format(cell: string | number): string {
  return typeof cell === 'number'
    ? cell.toLocaleString('en-US', { maximumFractionDigits: 2 })
    : cell
}

/** A share as text, for example `37.5 %`. */
export function percent(part: number, whole = 1): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`
}
