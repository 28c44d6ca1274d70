import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSessions } from './recording.ts'

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
