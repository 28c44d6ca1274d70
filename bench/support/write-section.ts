import { writeFileSync } from 'node:fs'

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
