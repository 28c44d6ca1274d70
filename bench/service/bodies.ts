import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordsOf } from '../support/generated-results.ts'

/** A file of bodies for `/v1/encode`, a JSON text a line, with contents of about `bytes` bytes. */
export function encodeBodies(folder: string, bytes: number, count: number): string {
  const file = join(folder, `encode-${bytes}.jsonl`)
  const lines = Array.from({ length: count }, (_, seed) =>
    JSON.stringify({ content: recordsOf(bytes * 0.85, seed) }),
  )
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}
