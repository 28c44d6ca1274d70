import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordsOf } from '../support/sample-results.ts'

/** A file of request bodies, a JSON text a line. */
function bodiesFile(folder: string, name: string, bodies: readonly object[]): string {
  const file = join(folder, name)
  writeFileSync(file, `${bodies.map(body => JSON.stringify(body)).join('\n')}\n`)
  return file
}

/** Bodies for `/v1/encode` with contents of about `bytes` bytes. */
export function encodeBodies(folder: string, bytes: number, count: number): string {
  const bodies = Array.from({ length: count }, (_, seed) => ({
    content: recordsOf(bytes * 0.85, seed),
  }))
  return bodiesFile(folder, `encode-${bytes}.jsonl`, bodies)
}
