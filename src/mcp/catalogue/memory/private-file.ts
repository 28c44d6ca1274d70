import { readFileSync } from 'node:fs'

/** Returns `null` if there is no such file, or no JSON in it. */
export function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
