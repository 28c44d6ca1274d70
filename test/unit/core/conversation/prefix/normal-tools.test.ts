import { describe, expect, it } from 'vitest'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'
import { FULL_RUNS } from '../../../../support/runs.ts'

const normalise = { cache_align: { normalise: true } }
const ENDS = { cache_control: { type: 'ephemeral' } }
const user = (content: unknown) => ({ role: 'user', content })
const tool = (name: string, fields: object = {}) => ({
  name,
  input_schema: { type: 'object' },
  ...fields,
})

function turn(turns: number, tools: unknown, fields: object = {}) {
  const more = Array.from({ length: turns }, (_, i) => [
    { role: 'assistant', content: `Step ${i}` },
    user(`More ${i}`),
  ])
  return { tools, messages: [user('Go.'), ...more.flat()], ...fields }
}

const toolsOf = (text: string) =>
  JSON.parse(text).tools as { name: string; cache_control?: object }[]
const namesOf = (text: string) => toolsOf(text).map(({ name }) => name)

/** The list as a provider's cache has it. */
const bare = (text: string) =>
  toolsOf(text).map(({ cache_control, ...rest }) => JSON.stringify(rest))

/** A shuffle that every run repeats. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const list = [...items]
  let state = seed + 1
  for (let i = list.length - 1; i > 0; i--) {
    state = Math.imul(state, 1_103_515_245) + 12_345
    const j = (state >>> 8) % (i + 1)
    const kept = list[i]!
    list[i] = list[j]!
    list[j] = kept
  }
  return list
}

describe('the tools of a conversation', () => {
  it('are in order, with the keys of all objects, and numbers as they are spelled', () => {
    const tools =
      '[{"name":"b","input_schema":{"z":[{"b":1.0,"a":12345678901234567890}],"a":1e400}},{"name":"a"}]'
    const text = recordingProxy(normalise).text(
      `{"tools": ${tools}, "messages":[{"role":"user","content":"x"}]}`,
    )
    expect(text).toBe(
      '{"tools": [{"name":"a"},{"input_schema":{"a":1e400,"z":[{"a":12345678901234567890,"b":1.0}]},' +
        '"name":"b","cache_control":{"type":"ephemeral"}}], "messages":[{"role":"user","content":"x"}]}',
    )
  })

  it('keep their cached prefix over many turns of a shuffled list that grows', () => {
    const turns = FULL_RUNS ? 50 : 16
    const all = Array.from({ length: 40 }, (_, i) => tool(`tool ${(i * 17) % 40}`, { b: 1, a: 2 }))
    const store: Store = new Map()
    let before: string[] = []
    for (let i = 0; i < turns; i++) {
      // Another process each time, of which some have a new configuration.
      const proxy = recordingProxy(i % 3 === 2 ? {} : normalise, { store })
      if (i > 0 && i % 7 === 0) proxy.text(turn(i, shuffled(all.slice(0, 20), i)))
      const text = proxy.text(turn(i, shuffled(all.slice(0, 20 + Math.floor(i / 5) * 2), i)))
      const list = bare(text)
      expect(list.slice(0, before.length)).toEqual(before)
      before = list
    }
    expect(before).toHaveLength(20 + Math.floor((turns - 1) / 5) * 2)
  })

  it('stay in a conversation that began without', () => {
    const store: Store = new Map()
    const tools = [tool('b'), tool('a')]
    expect(namesOf(recordingProxy({}, { store }).text(turn(0, tools)))).toEqual(['b', 'a'])
    expect(namesOf(recordingProxy(normalise, { store }).text(turn(1, tools)))).toEqual(['b', 'a'])
  })

  const four = Array.from({ length: 4 }, (_, i) => user([{ type: 'text', text: `${i}`, ...ENDS }]))
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  it.each([
    ['the client has one in its instructions', { system: [{ type: 'text', text: 'A', ...ENDS }] }],
    ['there would be more than four', { messages: four }],
    ['the client ends the prefix itself', { cache_control: { type: 'ephemeral', ttl: '5m' } }],
    ['another one has a longer life', { messages: [user([{ type: 'text', text: 'x', ...hour }])] }],
  ])('get no breakpoint if %s', (_, fields) => {
    const text = recordingProxy(normalise).text(turn(0, [tool('b'), tool('a')], fields))
    expect(namesOf(text)).toEqual(['a', 'b'])
    expect(toolsOf(text).some(each => each.cache_control !== undefined)).toBe(false)
  })

  it('get it on the last one that is in the prompt', () => {
    const tools = [tool('b', { defer_loading: true }), tool('a')]
    const [a, b] = toolsOf(recordingProxy(normalise).text(turn(0, tools)))
    expect(a?.cache_control).toEqual({ type: 'ephemeral' })
    expect(b?.cache_control).toBeUndefined()
  })

  it.each([
    ['a breakpoint of the client', [tool('b', ENDS), tool('a')]],
    ['a tool without a name', [tool('b'), {}]],
    ['a tool that is a text', [tool('b'), 'a']],
    ['no list', 'tools'],
    ['no tools', []],
  ])('stay as they are with %s', (_, tools) => {
    const body = JSON.stringify(turn(0, tools))
    expect(recordingProxy(normalise).text(body)).toBe(body)
  })

  it('stay as they are if a name is there twice, or keys of a schema', () => {
    const messages = '"messages":[{"role":"user","content":"x"}]'
    const doubled = `{"tools":[{"name":"b","name":"c"},{"name":"a"}],${messages}}`
    expect(recordingProxy(normalise).text(doubled)).toBe(doubled)
    const schema = `{"tools":[{"name":"b","s":{"z":1,"a":2,"a":3}}],${messages}}`
    expect(recordingProxy(normalise).text(schema)).toContain('{"name":"b","s":{"z":1,"a":2,"a":3},')
  })

  it('may be very many, of which some share a name', () => {
    const count = FULL_RUNS ? 10_000 : 1_000
    const tools = Array.from({ length: count }, (_, i) => tool(`t${i % (0.9 * count)}`, { i }))
    const one = recordingProxy(normalise).text(turn(0, tools))
    expect(recordingProxy(normalise).text(turn(0, shuffled(tools, 1)))).toBe(one)
    expect(toolsOf(one)).toHaveLength(count)
  })

  it('have no breakpoint where the vendor knows none', () => {
    const proxy = recordingProxy(normalise, { route: 'openai_chat' })
    const ofChat = (name: string) => ({ type: 'function', function: { parameters: {}, name } })
    const custom = { type: 'custom', custom: { name: 'aa' } }
    const sent = JSON.parse(proxy.text(turn(0, [ofChat('b'), custom, ofChat('a')])))
    expect(JSON.stringify(sent.tools)).toBe(
      '[{"function":{"name":"a","parameters":{}},"type":"function"},' +
        '{"custom":{"name":"aa"},"type":"custom"},' +
        '{"function":{"name":"b","parameters":{}},"type":"function"}]',
    )
  })
})
