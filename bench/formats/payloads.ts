import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files of each payload folder of the corpus that hold a JSON object or array. */
export function jsonPayloads(corpus: string): ReadonlyMap<string, readonly string[]> {
  const root = join(corpus, 'payloads')
  const folders = new Map<string, readonly string[]>()
  for (const folder of readdirSync(root).sort()) {
    const files = readdirSync(join(root, folder))
      .filter(name => name.endsWith('.json'))
      .sort()
      .map(name => join(root, folder, name))
      .filter(isContainer)
    if (files.length > 0) folders.set(folder, files)
  }
  return folders
}

function isContainer(file: string): boolean {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
