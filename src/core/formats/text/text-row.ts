/**
 * A row of CSV whose cells are texts and nothing else; quotes if a cell needs them, as in RFC 4180.
 */
export function writeTextRow(cells: readonly string[]): string {
  return cells.map(writeCell).join(',')
}

/** A comma or quote anywhere; backticks in front could look like the end of a fence. */
const NEEDS_QUOTES = /[",]|^```/

function writeCell(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** The cells of such a row, or `null` if quotes do not match. An empty line is one empty cell. */
export function readTextRow(line: string): readonly string[] | null {
  const cells: string[] = []
  for (let at = 0; at <= line.length; at++) {
    if (line[at] !== '"') {
      let end = line.indexOf(',', at)
      if (end === -1) end = line.length
      cells.push(line.slice(at, end))
      at = end
      continue
    }
    const end = closingQuote(line, at + 1)
    if (end === -1 || (end + 1 < line.length && line[end + 1] !== ',')) return null
    cells.push(line.slice(at + 1, end).replaceAll('""', '"'))
    at = end + 1
  }
  return cells
}

/** The offset of the first quote from `start` on that is not doubled, or -1. */
function closingQuote(line: string, start: number): number {
  let at = line.indexOf('"', start)
  while (at !== -1 && line[at + 1] === '"') at = line.indexOf('"', at + 2)
  return at
}
