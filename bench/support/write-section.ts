import { readFileSync, writeFileSync } from 'node:fs'

const README = new URL('../README.md', import.meta.url)

/**
 * Puts a report between the marks `<!-- NAME -->` and `<!-- /NAME -->` of bench/README.md, so that
 * its tables are what a command printed. Throws where the marks are not there.
 */
export function writeSection(name: string, report: string): void {
  const text = readFileSync(README, 'utf8')
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const start = text.indexOf(open)
  const end = text.indexOf(close, start)
  if (start === -1 || end === -1) throw new Error(`bench/README.md has no section ${open}`)
  writeFileSync(README, `${text.slice(0, start + open.length)}\n\n${report}\n\n${text.slice(end)}`)
}
