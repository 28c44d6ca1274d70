import { join } from 'node:path'
import { acknowledged, check, startWriter } from '../../test/processes/store/killed.ts'
import { markdownTable } from '../support/markdown-table.ts'

/** Writers are killed at random moments; every second round two of them share the file. */
export async function kill(folder: string, rounds: number): Promise<string> {
  const target = join(folder, 'kill')
  const names: string[] = []
  const said: string[] = []
  for (let round = 0; round < rounds; round++) {
    const writers = [startWriter(target, `r${round}a`)]
    if (round % 2 === 0) writers.push(startWriter(target, `r${round}b`))
    await Promise.all(writers.map(writer => writer.said(1 + Math.floor(Math.random() * 400))))
    for (const { child } of writers) child.kill('SIGKILL')
    await Promise.all(writers.map(({ ended }) => ended))
    for (const { lines } of writers) {
      const kept = acknowledged(lines)
      names.push(...kept)
      said.push(...lines.filter(line => !kept.includes(line)))
    }
  }
  const { lost, damaged, events } = await check(target, names)
  const header = ['kills', 'bodies acknowledged', 'lost or different', 'damaged', 'events']
  const events_ = said.length + events.length
  return markdownTable(header, [[rounds, names.length, lost.length, damaged, events_]])
}
