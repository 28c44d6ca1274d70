import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

const source = (name: string) =>
  JSON.stringify(new URL(`../../src/core/base/${name}`, import.meta.url).href)

/** A thread that compresses a small text without end, in the way that it is told. */
const THREAD = `
  import { parentPort, workerData } from 'node:worker_threads'
  import { compressed } from ${source('compressed.ts')}
  import { decodeBody, encodeBody } from ${source('content-coding.ts')}
  import { protectThread } from ${source('unbroken.ts')}
  protectThread(new Int32Array(workerData.shared), 0)
  const bytes = Buffer.alloc(8, 'ab')
  parentPort.postMessage('begun')
  const coding = workerData.way
  for (;;) {
    if (coding === 'store') compressed(bytes)
    else decodeBody(encodeBody(bytes, coding), coding, 1_000)
  }`

const PROGRAM = `
  import { Worker } from 'node:worker_threads'
  import { setTimeout } from 'node:timers/promises'
  import { mayTerminate } from ${source('unbroken.ts')}
  const ways = ['store', 'zstd']
  for (let i = 0; i < 80; i++) {
    const shared = new SharedArrayBuffer(4)
    const worker = new Worker(${JSON.stringify(THREAD)}, {
      eval: true,
      workerData: { shared, way: ways[i % ways.length] },
    })
    await new Promise(resolve => worker.once('message', resolve))
    await setTimeout(i % 4)
    while (!mayTerminate(new Int32Array(shared), 0)) await setTimeout(1)
    await worker.terminate()
  }
  console.log('all terminated')`

it('threads that compress are terminated, and their process goes on', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'all terminated\n' })
})
