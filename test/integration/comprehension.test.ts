import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as bodyOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const BENCH = fileURLToPath(new URL('../../bench/comprehension.ts', import.meta.url))

interface Row {
  readonly format: string
  readonly right: number
  readonly asked: number
}

function bench(...args: string[]): Promise<{ code: number; rows: readonly Row[] }> {
  return new Promise(resolve => {
    execFile(process.execPath, [BENCH, '--json', ...args], (error, stdout) => {
      resolve({ code: error === null ? 0 : Number(error.code), rows: JSON.parse(stdout).rows })
    })
  })
}

it('every gold answer can be read from our texts by readers that know only their grammar', async () => {
  const { code, rows } = await bench()
  const ours = rows.filter(({ format }) => format.includes('@'))
  expect(ours).toHaveLength(4)
  for (const { right, asked } of ours) expect([right, asked > 0]).toEqual([asked, true])
  expect(code).toBe(0)
})

it('a model is asked about every format, and its answers are held against the gold ones', async () => {
  const prompts: string[] = []
  const model = createServer(async (request, response) => {
    const { messages } = (await bodyOf(request)) as { messages: { content: string }[] }
    const prompt = messages.at(-1)?.content ?? ''
    prompts.push(prompt)
    // Right about the number of people, and wrong about all else.
    const content = prompt.endsWith('How many people are there?') ? ' 40. ' : 'no idea'
    response.end(JSON.stringify({ choices: [{ message: { content } }] }))
  })
  model.listen(0, '127.0.0.1')
  await once(model, 'listening')
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
  const { code, rows } = await bench('--url', url, '--model', 'test')
  model.close()
  expect(code).toBe(0)
  expect(rows.reduce((sum, { right }) => sum + right, 0)).toBe(4)
  expect(rows.reduce((sum, { asked }) => sum + asked, 0)).toBe(prompts.length)
  expect(new Set(rows.map(({ format }) => format))).toContain('toon')
})
