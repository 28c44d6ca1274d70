import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CallName, decisiveArgument } from '../../src/core/hints/earlier-call.ts'

/** One tool result of a recorded session. */
export interface Recorded extends CallName {
  readonly args: unknown
  readonly text: string
}

/** The results of each agent context (a session between two compactions), in order. */
export function recordedContexts(corpus: string): readonly (readonly Recorded[])[] {
  const folder = join(corpus, 'sessions')
  const contexts = new Map<string, Recorded[]>()
  for (const file of readdirSync(folder).sort()) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue
      const { session, epoch, tool, args, text } = JSON.parse(line)
      const argument = decisiveArgument(args)
      const key = `${session} ${epoch}`
      const context = contexts.get(key) ?? []
      contexts.set(key, context)
      context.push({ tool, args, text, ...(argument === undefined ? {} : { argument }) })
    }
  }
  return [...contexts.values()]
}
