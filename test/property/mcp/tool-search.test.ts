import fc from 'fast-check'
import { expect, it } from 'vitest'
import { connectMemory, MemoryServer } from '../../support/mcp/memory-gateway.ts'
import { leastHits, runs } from '../../support/runs.ts'

/** Each run has a gateway of its own. */
const RUNS = runs(600)

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 })
const flag = maybe(fc.boolean())
const name = fc.oneof(
  fc.constantFrom(
    'find_tools',
    'call_tool',
    'call_read_tool',
    '__proto__',
    'get',
    'getIssue',
    'a b',
  ),
  fc.constantFrom('constructor', 'haversack', 'find_tools_2', 'GET', 'x'.repeat(60)),
  fc.string({ minLength: 1, maxLength: 12 }),
)
const tool = fc.record({
  name,
  description: maybe(fc.string()),
  inputSchema: fc.constant({ type: 'object' }),
  annotations: fc.record({ readOnlyHint: flag, destructiveHint: flag }),
})
const server = fc.record({
  tools: fc.uniqueArray(tool, { maxLength: 8, selector: each => each.name }),
  trusted: fc.boolean(),
})
const setup = fc.record({
  servers: fc.array(server, { minLength: 1, maxLength: 3 }),
  keep: fc.subarray(['*get*', 's0__*']),
  learns: fc.boolean(),
  /** What the user states, by the length of a name. */
  stated: fc.dictionary(fc.constantFrom('3', '8', '10'), fc.boolean()),
})
type Setup = typeof setup extends fc.Arbitrary<infer T> ? T : never

async function connect({ servers, stated, learns, ...search }: Setup) {
  const received: string[] = []
  const all = servers.map(({ tools, trusted }, at) => {
    const one = new MemoryServer(`s${at}`, tools, trusted)
    one.handler = each => {
      received.push(`${one.name} ${each.tool}`)
      return '{"content":[]}'
    }
    return one
  })
  const isStatedReadOnly = (each: string) => stated[String(each.length)]
  const everything = await connectMemory(all)
  const offered = (await everything.list()).map(each => each.name)
  const recent = () => (learns ? offered.slice(0, 2) : [])
  const learned = { recent, begin: () => () => {} }
  const client = await connectMemory(all, { search: { ...search, isStatedReadOnly, learned } })
  const mayRead = new Set(
    servers.flatMap(({ tools, trusted }, at) =>
      tools
        .filter(({ name: key, annotations: { readOnlyHint, destructiveHint } }) => {
          const byServer = trusted && readOnlyHint === true && destructiveHint !== true
          return isStatedReadOnly(key) ?? byServer
        })
        .map(({ name: key }) => `s${at} ${key}`),
    ),
  )
  return { ...client, received, offered, mayRead }
}

/** The names of our three tools, which may end with a number. */
function oursIn(list: readonly string[], offered: readonly string[]) {
  const own = (base: string) =>
    list.find(
      each =>
        each.startsWith(base) &&
        /^(?:_\d+)?$/.test(each.slice(base.length)) &&
        !offered.includes(each),
    )!
  return { find: own('find_tools'), read: own('call_read_tool'), call: own('call_tool') }
}

it('reads only by tools that only read, and finds and calls all that is offered', async () => {
  let [reads, writes] = [0, 0]
  await fc.assert(
    fc.asyncProperty(setup, async given => {
      const { call, list: tools, received, offered, mayRead, settled, bugs } = await connect(given)
      const first = await tools()
      const list = first.map(each => each.name)
      const ours = oursIn(list, offered)
      for (const each of offered) {
        const found = await call(ours.find, { query: each })
        const texts = found.content.slice(0, -1).map((block: { text: string }) => block.text)
        expect(texts.map((text: string) => JSON.parse(text).name)).toContain(each)
        received.length = 0
        await call(ours.read, { name: each, arguments: {} })
        await settled()
        for (const got of received) expect(mayRead).toContain(got)
        reads += received.length
        if (received.length === 0) {
          await call(ours.call, { name: each, arguments: {} })
          if (received.length === 0) expect(list).toContain(each)
          writes += received.length
        }
        received.length = 0
        await call(each, {})
        expect(received).toHaveLength(1)
      }
      expect(JSON.stringify(await tools())).toBe(JSON.stringify(first))
      expect(bugs).toEqual([])
    }),
    { numRuns: RUNS },
  )
  expect(reads).toBeGreaterThan(leastHits(30))
  expect(writes).toBeGreaterThan(leastHits(30))
}, 120_000)
