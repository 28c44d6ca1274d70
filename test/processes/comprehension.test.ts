import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json as bodyOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { goldOf, sentOf } from '../../bench/comprehension/data-set.ts'
import { dataSets } from '../../bench/comprehension/data-sets.ts'
import { JSON_FORMATS } from '../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../src/core/formats/text/registry.ts'
import { CONSTRUCTS } from '../../src/core/reading/constructs.ts'
import { readPlainly } from '../support/plain-readers/readers.ts'
import { FULL_RUNS } from '../support/runs.ts'

const BENCH = fileURLToPath(new URL('../../bench/comprehension.ts', import.meta.url))

interface Row {
  readonly set: string
  readonly format: string
  readonly sent: boolean
  readonly right: number
  readonly asked: number
}

/** What the bench prints, and its exit code. */
function run(...args: string[]): Promise<{ code: number; out: string }> {
  return new Promise(resolve => {
    execFile(process.execPath, [BENCH, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr })
    })
  })
}

function bench(...args: string[]): Promise<{ code: number; rows: readonly Row[] }> {
  return new Promise(resolve => {
    execFile(process.execPath, [BENCH, '--json', ...args], (error, stdout) => {
      resolve({ code: error === null ? 0 : Number(error.code), rows: JSON.parse(stdout).rows })
    })
  })
}

const SETS = dataSets()

it('every gold answer can be read from our texts by readers that know only their grammar', async () => {
  const { code, rows } = await bench()
  expect(rows.filter(({ sent }) => sent).map(({ set }) => set)).toEqual(SETS.map(set => set.name))
  const read = rows.filter(({ format }) => format !== 'as it came')
  for (const { set, right, asked } of read) {
    const all = SETS.find(({ name }) => name === set)?.questions.length
    expect([set, right, asked]).toEqual([set, all, all])
  }
  const formats = new Set(read.map(({ format }) => format.replace(/@.*/, '')))
  // TOON is written by its own library.
  const own = [...JSON_FORMATS, ...TEXT_FORMATS].filter(({ id }) => id !== 'toon')
  for (const { id } of own) expect([...formats]).toContain(id)
  expect(code).toBe(0)
})

describe.each(SETS)('$name', set => {
  const { data, questions } = set

  it('is read plainly as the data it was made of', () => {
    const { content, format } = sentOf(set)
    expect(readPlainly(format, content)).toEqual(data)
  })

  it('has questions of which every one has an answer', () => {
    for (const question of questions) {
      const [text] = question
      const gold = goldOf(question, data)
      expect(gold, text).toMatch(/^(?!undefined|NaN|-?Infinity).+$/)
      if (!text.includes('null')) expect(gold, text).not.toBe('null')
    }
    expect(questions.length).toBeGreaterThanOrEqual(4)
  })
})

it('a model is asked about every format, and its answers are held against the gold ones', async () => {
  const prompts: string[] = []
  const model = createServer(async (request, response) => {
    const { messages } = (await bodyOf(request)) as { messages: { content: string }[] }
    const prompt = messages.at(-1)?.content ?? ''
    prompts.push(prompt)
    // Right about the number of values, and wrong about all else.
    const content = prompt.endsWith('How many values are there?') ? ' 40. ' : 'no idea'
    response.end(JSON.stringify({ choices: [{ message: { content } }] }))
  })
  model.listen(0, '127.0.0.1')
  await once(model, 'listening')
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
  const { code, rows } = await bench('--url', url, '--model', 'test')
  model.close()
  expect(code).toBe(0)
  const values = rows.filter(({ set }) => set === 'measurements')
  expect(values.map(({ right }) => right)).toEqual(values.map(() => 1))
  expect(rows.reduce((sum, { right }) => sum + right, 0)).toBe(values.length)
  expect(rows.reduce((sum, { asked }) => sum + asked, 0)).toBe(prompts.length)
  for (const format of ['toon', 'json_compact', 'as it came']) {
    expect(rows.map(row => row.format)).toContain(format)
  }
})

describe('pairs of texts with and without a construct', () => {
  it('are answered by plain readers, all of them', async () => {
    const pairs = FULL_RUNS ? 8 : 2
    const { code, out } = await run('--constructs', '--pairs', `${pairs}`)
    const rows = out.split('\n').flatMap(line => {
      const [, construct, , asked, right] = line.split('|').map(cell => cell.trim())
      return asked === undefined || Number.isNaN(Number(asked)) ? [] : [[construct, asked, right]]
    })
    expect(rows.map(([construct]) => construct)).toEqual([...CONSTRUCTS])
    for (const [construct, asked, right] of rows) {
      expect([construct, right]).toEqual([construct, asked])
      expect(Number(asked)).toBeGreaterThanOrEqual(2 * pairs)
    }
    expect(code).toBe(0)
  })

  it('are asked of a model, which may be busy; its key is written nowhere', async () => {
    const [key, folder] = ['a-secret-key', mkdtempSync(join(tmpdir(), 'constructs-'))]
    let asked = 0
    const model = createServer(async (request, response) => {
      await bodyOf(request)
      expect(request.headers.authorization).toBe(`Bearer ${key}`)
      if (++asked % 5 === 1) response.writeHead(429, { 'retry-after': '0' }).end()
      else response.end(JSON.stringify({ choices: [{ message: { content: 'no idea' } }] }))
    })
    model.listen(0, '127.0.0.1')
    await once(model, 'listening')
    const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
    const at = ['--url', url, '--model', 'a/b', '--key', key, '--folder', folder]
    const first = await run('--constructs', '--pairs', '1', ...at, '--max-tokens', '9000')
    expect(first.out).toContain('The tokens ended before all questions were asked.')
    const second = await run('--constructs', '--pairs', '1', ...at)
    expect([first.code, second.code]).toEqual([0, 0])
    expect(second.out).toContain('[reading.prices]\nnumbered = 0\n')
    expect(second.out).not.toContain('The tokens ended')
    const before = asked
    await run('--constructs', '--pairs', '1', ...at)
    expect(asked).toBe(before)
    model.close()
    const [file = ''] = readdirSync(folder)
    expect(file).toBe('a-b.jsonl')
    for (const text of [first.out, second.out, readFileSync(join(folder, file), 'utf8')]) {
      expect(text).not.toContain(key)
    }
  })
})
