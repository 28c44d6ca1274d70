import { createInterface } from 'node:readline/promises'
import { UsageError } from './command.ts'

/** Asks a question of yes or no at the terminal. @throws UsageError if there is none */
export async function isAgreed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('there is no terminal to ask at: give --yes')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
