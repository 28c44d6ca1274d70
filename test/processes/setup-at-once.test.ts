import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, it } from 'vitest'
import { restore } from '../../src/console/replace-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-at-once-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ROUNDS = 200
const TEXTS = ['one', 'two']

it('lets one of two that run at once change a file, and puts that back', async () => {
  const files = Array.from({ length: ROUNDS }, (_, round) => join(folder, String(round)))
  for (const file of files) writeFileSync(file, 'before')
  const barrier = new Int32Array(new SharedArrayBuffer(4))
  const changed = new Int32Array(new SharedArrayBuffer(4 * ROUNDS))
  const workers = TEXTS.map(text => {
    const workerData = { files, text, threads: TEXTS.length, barrier, changed }
    return new Worker(new URL('worker-setup.ts', import.meta.url), { workerData })
  })
  await Promise.all(workers.map(worker => once(worker, 'exit')))
  expect([...changed]).toEqual(Array(ROUNDS).fill(1))
  for (const file of files) {
    expect(TEXTS).toContain(readFileSync(file, 'utf8'))
    expect(readFileSync(`${file}.haversack-backup`, 'utf8')).toBe('before')
    restore(file, text => TEXTS.includes(text))
    expect(readFileSync(file, 'utf8')).toBe('before')
  }
  expect(readdirSync(folder)).toHaveLength(ROUNDS)
})
