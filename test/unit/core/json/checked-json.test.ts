import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkLargeJson } from '../../../../src/core/json/bytes/check-large-json.ts'
import { checkedJson, joinJson, LARGE_BYTES } from '../../../../src/core/json/bytes/checked-json.ts'
import {
  type JsonBytes,
  type JsonNode,
  members,
  RANGE,
} from '../../../../src/core/json/bytes/json-node.ts'
import { readJson } from '../../../../src/core/json/bytes/read-json.ts'
import { fewRuns } from '../../../support/short-runs.ts'

const SELECTION = members({
  id: RANGE,
  é: RANGE,
  params: members({ id: RANGE, _meta: members({ id: RANGE }), params: members({ id: RANGE }) }),
})

function read(body: JsonBytes): JsonNode | null {
  return readJson(body, SELECTION, { maxBytes: body.length, maxDepth: 10_000, maxValues: 1_000 })
}

/** The same text twice; only the first was checked. */
async function both(text: string | JsonBytes): Promise<[JsonBytes, JsonBytes]> {
  const checked = Buffer.from(text)
  await checkLargeJson(checked)
  return [checked, Buffer.from(text)]
}

const PAD = JSON.stringify('x'.repeat(LARGE_BYTES))
const NAME = fc.constantFrom('id', '_meta', 'params', 'é', '__proto__', 'a"b', '')
const SPACE = fc.constantFrom('', ' ', '\n ')
const SCALAR = fc.oneof(
  { weight: 12, arbitrary: fc.json({ maxDepth: 2 }) },
  { weight: 6, arbitrary: fc.constantFrom(PAD, '"y\\u0041"', JSON.stringify('z'.repeat(300))) },
  { weight: 1, arbitrary: fc.constantFrom('01', '"', 'nul') },
)
/** Objects in objects, mostly JSON, with values of all sizes. */
const { object: OBJECT } = fc.letrec<{ object: string; value: string }>(tie => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, SCALAR, tie('object')),
  object: fc
    .tuple(fc.array(fc.tuple(NAME, tie('value'), SPACE), { maxLength: 4 }), SPACE)
    .map(([all, space]) => {
      const inside = all.map(([name, value, gap]) => `${gap}${JSON.stringify(name)}${gap}:${value}`)
      return `${space}{${inside.join(',')}}`
    }),
}))
const TEXT = fc
  .tuple(OBJECT, OBJECT)
  .map(([params, other]) => `{"pad":${PAD},"params":${params},"id":${other}}`)

describe('a large text that was checked', () => {
  it('is read like one that was not', async () => {
    await fc.assert(
      fc.asyncProperty(TEXT, async text => {
        const [checked, plain] = await both(text)
        expect(checkedJson(checked)).toBeDefined()
        expect(read(checked)).toEqual(read(plain))
      }),
      { numRuns: fewRuns(40, 2) },
    )
  })

  it('is known as well where it was joined of parts', async () => {
    await fc.assert(
      fc.asyncProperty(TEXT, OBJECT, async (text, value) => {
        const [checked, plain] = await both(text)
        const id = read(checked)?.members?.find(({ key }) => key === 'id')
        if (id === undefined) return
        const parts = (of: JsonBytes) =>
          [of.subarray(0, id.start), Buffer.from(value), of.subarray(id.end)] as const
        const joined = joinJson(...parts(checked))
        expect(checkedJson(joined)).toBeDefined()
        expect(read(joined)).toEqual(read(Buffer.concat(parts(plain))))
      }),
      { numRuns: fewRuns(20, 2) },
    )
  })

  it.each([
    ['no end', `{"id":${PAD}`],
    ['a rest', `{"id":${PAD}} x`],
    [
      'no UTF-8',
      Buffer.concat([Buffer.from(`{"id":${PAD},"a":"`), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
    ['deep nesting', `{"id":${'['.repeat(LARGE_BYTES)}${']'.repeat(LARGE_BYTES)}}`],
  ])('is nothing with %s', async (_, text) => {
    const [checked] = await both(text)
    expect([checkedJson(checked)?.isFaulty, read(checked)]).toEqual([true, null])
  })

  it('has no member where there are very many', async () => {
    const many = Array.from({ length: 100_000 }, (_, n) => `"a${n}":${n}`).join(',')
    const [checked] = await both(`{"params":{${many},"id":1},"id":2}`)
    expect(read(checked)).toBeNull()
    const outer = readJson(checked, members({ id: RANGE }), {
      maxBytes: checked.length,
      maxDepth: 9,
      maxValues: 9,
    })
    expect(outer?.members).toHaveLength(1)
  })
})

describe.each([
  ['numbers', `[${'1,'.repeat(LARGE_BYTES)}1]`],
  ['members', `{${Array.from({ length: 100_000 }, (_, n) => `"a${n}":${n}`).join(',')}}`],
  ['empty objects', `[${'{},'.repeat(LARGE_BYTES / 2)}{}]`],
])('a text of many %s', (_, json) => {
  const text = `{"id":1,"params":{"a":${json}}}`

  it('lets the thread do other work while it is checked, however many are', async () => {
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const texts = [Buffer.from(text), Buffer.from(text)]
    await Promise.all(texts.map(checkLargeJson))
    isDone = true
    // Each part of each text has a turn of its own.
    expect(turns).toBeGreaterThan((2 * text.length) / (300 * 1024))
  })

  it('is passed over in no time afterwards', async () => {
    const [checked] = await both(text)
    const before = process.cpuUsage()
    for (let i = 0; i < 20; i++) expect(read(checked)?.members).toHaveLength(2)
    const { user } = process.cpuUsage(before)
    expect(user / 1000).toBeLessThan(100)
  })
})
