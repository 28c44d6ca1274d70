import { writeFileSync } from 'node:fs'

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

/**
 * Writes a report into a file of `bench/results`, so that its tables are what a command printed.
 * @param name of the bench, as in `npm run bench -- NAME`
 * @param part of its results, if it has several files
 */
export function writeSection(name: string, report: string, part = name): void {
  const title = `# ${part.charAt(0).toUpperCase()}${part.slice(1)}`
  const date = new Date().toISOString().slice(0, 10)
  const command = `Written on ${date} by \`npm run bench -- ${name} --write\`; see [bench/README.md](../README.md).`
  const file = new URL(`../results/${part.replaceAll(' ', '-')}.md`, import.meta.url)
  writeFileSync(file, `${title}\n\n${command}\n\n${report.replace(/^###+ /gm, '## ')}\n`)
}

/** Prints a report, and puts it into the bench's file of `bench/results` if that is wanted. */
export function publish(name: string, parts: readonly string[], isWritten: boolean): void {
  const report = parts.join('\n\n')
  process.stdout.write(`${report}\n`)
  if (isWritten) writeSection(name, report)
}
