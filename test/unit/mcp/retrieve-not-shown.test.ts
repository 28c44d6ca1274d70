import { expect, it } from 'vitest'
import type { NotShown } from '../../../src/core/parts/not-shown.ts'
import type { PartSelector } from '../../../src/core/parts/part.ts'
import { selectPart } from '../../../src/core/parts/select-part.ts'
import { callRetrieve } from '../../../src/mcp/results/retrieve-tool.ts'

const HASH = 'a'.repeat(24)
const LOG = Array.from({ length: 3_000 }, (_, at) => `step ${at + 1}`).join('\n')
const ORDERS = JSON.stringify({ orders: Array.from({ length: 9 }, (_, id) => ({ id })) })

interface Asked {
  readonly text: string
  readonly args?: object
  readonly missing?: Omit<NotShown, 'hash' | 'name'>
}

/** One call in a conversation that has a marker of a text. */
async function ask({ text, args = { hash: HASH }, missing = {} }: Asked) {
  const body = Buffer.from(text)
  const stored = { body, media_type: 'text/plain; charset=utf-8' }
  const noted: unknown[] = []
  const originals = {
    fetch: async () => stored,
    fetchPart: async (_: unknown, selector: PartSelector) => {
      return { ...stored, part: selectPart(body, selector) }
    },
    noteFetch: (_: string, hash: string, bytes: number) => noted.push([hash, bytes]),
  } as unknown as Parameters<typeof callRetrieve>[2]
  const hidden = () => [{ hash: HASH, name: 'Read a.ts', ...missing }]
  const call = Buffer.from(JSON.stringify(args))
  const retriever = { tenant: '', reader: null, hidden }
  const outcome = await callRetrieve(call, retriever, originals, { maxBytes: 80_000 })
  if (outcome.kind !== 'result') throw new Error('no result')
  const { content } = JSON.parse(outcome.result.toString())
  return { texts: content.map((each: { text: string }) => each.text) as string[], noted }
}

it('gives the lines that are not shown, with their numbers, and notes what it gave', async () => {
  const lines = [
    { first: 2, last: 3 },
    { first: 9, last: 9 },
  ]
  const { texts, noted } = await ask({ text: LOG, missing: { lines } })
  expect(texts).toEqual(['lines 2-3:\nstep 2\nstep 3\nlines 9-9:\nstep 9'])
  expect(noted).toEqual([[HASH, texts[0]!.length]])
})

it('gives the first 2,000 lines, and names the next', async () => {
  const lines = [
    { first: 1, last: 1_500 },
    { first: 1_600, last: 2_400 },
  ]
  const { texts } = await ask({ text: LOG, missing: { lines } })
  expect(texts[0]).toMatch(/^lines 1-1500:\nstep 1\n/)
  expect(texts[1]).toBe('(the next are lines 1600-2400)')
})

it('gives the items that are not shown by their paths', async () => {
  const items = [
    { list: '$.orders', from: 1, end: 3 },
    { list: '$.orders', from: 8, end: 9 },
  ]
  const { texts } = await ask({ text: ORDERS, missing: { items } })
  expect(texts.map(text => JSON.parse(text))).toEqual([
    { '$.orders[1:3]': [{ id: 1 }, { id: 2 }], '$.orders[8:9]': [{ id: 8 }] },
  ])
})

it.each([
  ['by all', { args: { hash: HASH, all: true }, missing: { items: [] } }],
  ['if its keys lead elsewhere', { missing: { items: [{ list: '$.b', from: 1, end: 3 }] } }],
  ['if there are fewer', { missing: { items: [{ list: '$.orders', from: 5, end: 99 }] } }],
  ['if nothing of it is shown', {}],
])('gives the whole %s', async (_, asked) => {
  const { texts, noted } = await ask({ text: ORDERS, ...asked })
  expect(texts).toEqual([ORDERS])
  expect(noted).toEqual([[HASH, ORDERS.length]])
})

it('searches what the conversation has markers of', async () => {
  const { texts } = await ask({ text: LOG, args: { query: '1234' } })
  expect(texts[0]).toMatch(/^Read a\.ts, line 1234:\nstep 1233\nstep 1234\n/)
})
