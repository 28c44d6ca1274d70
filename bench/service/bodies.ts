import { randomBytes } from 'node:crypto'
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

/**
 * Bodies for `/v1/encode` full of random identifiers: much work for each byte, because none is a
 * word, so that a load of many times capacity fits through loopback.
 */
export function identifierBodies(folder: string, bytes: number, count: number): string {
  const row = () => ({
    id: randomBytes(16).toString('hex'),
    digest: randomBytes(60).toString('base64'),
  })
  const bodies = Array.from({ length: count }, () => ({
    content: JSON.stringify(Array.from({ length: bytes / 140 }, row)),
  }))
  return bodiesFile(folder, `identifiers-${bytes}.jsonl`, bodies)
}
