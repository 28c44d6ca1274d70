import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What an agent is told to do, one step a turn: commands of a shell, and reads of files by tools
 * that have their own.
 */
export type Step =
  | { readonly command: string }
  | { readonly file: string; readonly offset?: number; readonly limit?: number }
  /** Fetches what the last marker names, if the conversation has one and the agent a tool for it. */
  | { readonly retrieves: true }
  /** Calls a tool of the agent's own. */
  | { readonly tool: string; readonly args: object }

/** Writes a small project, and gives steps that look at it, some twice. */
export function makeProject(folder: string): readonly Step[] {
  mkdirSync(folder, { recursive: true })
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const people = ['mira', 'alan', 'ada']
  const issues = Array.from({ length: 60 }, (_, i) => ({
    id: 100 + i,
    title: `Issue number ${i}`,
    state: i % 3 === 0 ? 'closed' : 'open',
    assignee: people[i % 3],
    labels: ['bug', `p${i % 4}`],
  }))
  // Its outline saves what `elision_min_saved_tokens` asks for, and no agent cuts it.
  const lines = Array.from({ length: 28 }, (_, i) => functionOf(i)).flat()
  const log = Array.from({ length: 120 }, (_, i) => {
    const minute = String(i % 60).padStart(2, '0')
    return `2026-11-22T10:${minute}:00.000Z INFO worker request ${i} took ${(i * 37) % 97} ms`
  })
  const list = file('issues.json', JSON.stringify(issues, null, 2))
  const source = file('app.ts', lines.join('\n'))
  return [
    { command: `cat ${list}` },
    { file: source },
    { command: `grep -rn export ${source} ${list}` },
    { file: source, offset: 20, limit: 60 },
    { command: `cat ${list}` },
    { command: `cat ${file('log.txt', log.join('\n'))}` },
    { retrieves: true },
  ]
}

/** A function whose body says nothing twice. */
function functionOf(number: number): readonly string[] {
  const word = (i: number) => hash('sha256', `${number} ${i}`, 'hex').slice(0, 40)
  const body = Array.from({ length: 10 }, (_, i) => `  const value${i} = compute('${word(i)}')`)
  return [`export function step${number}(input: string): number {`, ...body, '}']
}
