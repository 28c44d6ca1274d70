/** A Markdown table; numbers have thousands separators and are set right. */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const isNumeric = header.map((_, column) =>
    rows.every(
      row => typeof row[column] === 'number' || /^[\d.,]+ %$|^–$/.test(String(row[column])),
    ),
  )
  return [
    line(header),
    `|${isNumeric.map(numeric => (numeric ? '---:' : '---')).join('|')}|`,
    ...rows.map(row => line(row.map(cell => cell.toLocaleString('en-US')))),
  ].join('\n')
}
