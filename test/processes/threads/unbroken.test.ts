import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { bundledWorker } from '../../support/bundled-worker.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-unbroken-'))
const log = join(folder, 'log.jsonl.gz')
writeFileSync(log, gzipSync('{}\n'))
afterAll(() => rmSync(folder, { recursive: true }))

const START = new URL('../../../src/threads/start-thread.ts', import.meta.url).href
const MODULE = bundledWorker(new URL('worker-zlib.ts', import.meta.url)).href

/** Starts threads that compress in one of the ways, ends them all together, and does it again. */
const PROGRAM = `
  import { once } from 'node:events'
  import { setTimeout } from 'node:timers/promises'
  import { startThread } from '${START}'
  const { ways, threads, rounds, isExit } = JSON.parse(process.argv[1])
  for (let round = 0; round < rounds; round++) {
    const start = new Int32Array(new SharedArrayBuffer(4))
    const started = Array.from({ length: threads }, (_, i) => {
      const data = { way: ways[(round + i) % ways.length], log: '${log}', start: start.buffer }
      return startThread(new URL('${MODULE}'), { name: 'zlib', data })
    })
    await Promise.all(started.map(thread => once(thread, 'message')))
    Atomics.store(start, 0, 1)
    Atomics.notify(start, 0)
    await setTimeout(2 + (round % 4))
    if (isExit) process.exit(3)
    await Promise.all(started.map(thread => thread.terminate()))
  }
  process.exitCode = 2`

interface Plan {
  readonly ways: readonly string[]
  readonly threads: number
  readonly rounds: number
  readonly isExit: boolean
}

/** The exit code, or the signal that ended it, and what it wrote. */
async function runProgram(plan: Plan): Promise<unknown> {
  const args = ['-e', PROGRAM, JSON.stringify(plan)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const [stderr, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { end: code ?? signal, stderr }
}

it.each(['store', 'read', 'zstd', 'gzip', 'note', 'log'])(
  'threads that compress or decompress (%s) are terminated, and their process goes on',
  async way => {
    const end = await runProgram({ ways: [way], threads: 6, rounds: 10, isExit: false })
    expect(end).toEqual({ end: 2, stderr: '' })
  },
)

it('a process exits while its threads compress, with the code that it chose', async () => {
  const ways = ['store', 'read', 'note']
  for (let run = 0; run < 5; run++) {
    const end = await runProgram({ ways, threads: 16, rounds: 1, isExit: true })
    expect(end).toEqual({ end: 3, stderr: '' })
  }
})
