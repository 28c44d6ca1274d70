import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'

/** One recorded result, with the context it belongs to. */
export interface ContextResult {
  readonly session: string
  /** Compactions before it. */
  readonly epoch: number
  readonly tool: string
  readonly args: unknown
  readonly text: string
  readonly isError: boolean
  /** When it was recorded (ISO 8601), if that is known. */
  readonly ts?: string | null | undefined
}

const line = z.looseObject({
  session: z.string(),
  epoch: z.number(),
  tool: z.string(),
  args: z.unknown(),
  text: z.string(),
  is_error: z.boolean().nullish(),
  ts: z.string().nullish(),
})

/** Recorded sessions by source, results in their order. */
export function readSessions(corpus: string): ReadonlyMap<string, readonly ContextResult[]> {
  const folder = join(corpus, 'sessions')
  const sources = new Map<string, ContextResult[]>()
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.jsonl')) continue
    const lines = readFileSync(join(folder, file), 'utf8').split('\n')
    const results = lines.filter(Boolean).map(text => {
      const { is_error, ...result } = line.parse(JSON.parse(text))
      return { ...result, isError: is_error === true }
    })
    sources.set(basename(file, '.jsonl'), results)
  }
  return sources
}
