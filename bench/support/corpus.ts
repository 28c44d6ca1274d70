import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The texts of each payload folder of a corpus that are JSON objects or arrays, by file. */
export function jsonPayloads(corpus: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const root = join(corpus, 'payloads')
  const folders = new Map<string, ReadonlyMap<string, string>>()
  for (const folder of readdirSync(root).sort()) {
    const files = readdirSync(join(root, folder))
      .filter(name => name.endsWith('.json'))
      .sort()
      .map(name => [name, readFileSync(join(root, folder, name), 'utf8')] as const)
      .filter(([, text]) => isContainer(text))
    if (files.length > 0) folders.set(folder, new Map(files))
  }
  return folders
}

/** Every payload of a corpus and every result of its sessions but errors, with where it is from. */
export function* recordedResults(
  corpus: string,
): Generator<{ readonly source: string; readonly content: string }> {
  const payloads = join(corpus, 'payloads')
  for (const source of readdirSync(payloads).sort()) {
    for (const name of readdirSync(join(payloads, source)).sort()) {
      yield { source, content: readFileSync(join(payloads, source, name), 'utf8') }
    }
  }
  const sources = readSessions(corpus)
  for (const [source, results] of sources) {
    for (const { text, isError } of results) if (!isError) yield { source, content: text }
  }
}

/** Whether a text is a JSON object or array. */
export function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}

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
  readonly ts?: string | null
}

/** Recorded sessions by source, results in their order. */
export function readSessions(corpus: string): ReadonlyMap<string, readonly ContextResult[]> {
  const folder = join(corpus, 'sessions')
  const sources = new Map<string, ContextResult[]>()
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.jsonl')) continue
    const lines = readFileSync(join(folder, file), 'utf8').split('\n')
    const results = lines.filter(Boolean).map(text => {
      const { is_error, ...result } = JSON.parse(text)
      return { ...result, isError: is_error === true }
    })
    sources.set(basename(file, '.jsonl'), results)
  }
  return sources
}
