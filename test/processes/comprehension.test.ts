import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as bodyOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { dataSets, sentOf } from '../../bench/comprehension/data-sets.ts'
import { QUESTIONS } from '../../bench/comprehension/questions.ts'
import { readPlainly } from '../../bench/comprehension/readers.ts'
import { JSON_FORMATS } from '../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../src/core/formats/text/registry.ts'

const BENCH = fileURLToPath(new URL('../../bench/comprehension.ts', import.meta.url))

interface Row {
  readonly set: string
  readonly format: string
  readonly sent: boolean
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

const SETS = dataSets()

it('every gold answer can be read from our texts by readers that know only their grammar', async () => {
  const { code, rows } = await bench()
  expect(rows.filter(({ sent }) => sent).map(({ set }) => set)).toEqual(SETS.map(set => set.name))
  const read = rows.filter(({ format }) => format !== 'as it came')
  for (const { set, right, asked } of read) {
    expect([set, right, asked]).toEqual([set, QUESTIONS[set]?.length, QUESTIONS[set]?.length])
  }
  const formats = new Set(read.map(({ format }) => format.replace(/@.*/, '')))
  for (const { id } of [...JSON_FORMATS, ...TEXT_FORMATS]) expect([...formats]).toContain(id)
  expect(code).toBe(0)
})

describe.each(SETS)('$name', set => {
  const { name, data } = set

  it('is read plainly as the data it was made of', () => {
    const { content, format } = sentOf(set)
    expect(readPlainly(format, content)).toEqual(data)
  })

  it('has questions of which every one has an answer', () => {
    for (const { text, answer } of QUESTIONS[name] ?? []) {
      const gold = answer(data)
      expect(gold, text).toMatch(/^(?!undefined|NaN|-?Infinity).+$/)
      if (!text.includes('null')) expect(gold, text).not.toBe('null')
    }
    expect(new Set(QUESTIONS[name]?.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(2)
  })
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
  const people = rows.filter(({ set }) => set === 'people')
  expect(people.map(({ right }) => right)).toEqual(people.map(() => 1))
  expect(rows.reduce((sum, { right }) => sum + right, 0)).toBe(people.length)
  expect(rows.reduce((sum, { asked }) => sum + asked, 0)).toBe(prompts.length)
  for (const format of ['toon', 'json_compact', 'as it came', 'md@1;a-s-c']) {
    expect(rows.map(row => row.format)).toContain(format)
  }
})
