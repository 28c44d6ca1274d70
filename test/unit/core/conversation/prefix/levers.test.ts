import { describe, expect, it } from 'vitest'
import { blockFor } from '../../../../../src/core/conversation/prefix/steer-verbosity.ts'
import { page } from '../../../../support/made-text.ts'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'

const on = {
  steering: { verbosity: 'terse', effort: 'low' },
  cache_align: { normalise: true },
}
const other = { steering: { verbosity: 'minimal', effort: 'medium' } }
const user = (content: unknown) => ({ role: 'user', content })

/** A conversation of an agent after so many calls. */
function turn(calls: number, opening = 'Go.') {
  const more = Array.from({ length: calls }, (_, i) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name: 'Read', input: { i } }] },
    user([{ type: 'tool_result', tool_use_id: `t${i}`, content: page(i) }]),
  ])
  return {
    model: 'claude-x',
    tools: [{ name: 'b' }, { name: 'a' }],
    system: 'Be good.',
    output_config: { effort: 'high' },
    messages: [user(opening), ...more.flat()],
  }
}

const said = { role: 'assistant', content: 'Done.' }

const head = (text: string) => text.slice(0, text.indexOf('"messages"'))

describe('the levers of a conversation', () => {
  it('are those of its first request, in every process and after every change', () => {
    const store: Store = new Map()
    const first = head(recordingProxy(on, { store }).text(turn(0)))
    expect(first).toContain(blockFor('terse'))
    expect(first).toContain('"effort":"low"')
    for (const [calls, pipeline] of [on, {}, other, on, {}].entries()) {
      const proxy = recordingProxy(pipeline, { store })
      expect(head(proxy.text(turn(calls + 1)))).toBe(first)
      expect(head(proxy.text(turn(calls + 1)))).toBe(first)
    }
  })

  it('are none if it began without, whatever is switched on later', () => {
    const store: Store = new Map()
    for (const [calls, pipeline] of [{}, on, {}, other].entries()) {
      const proxy = recordingProxy(pipeline, { store })
      expect(head(proxy.text(turn(calls)))).toBe(head(JSON.stringify(turn(calls))))
    }
  })

  it('stay in conversations without results, in a process that has them switched off', () => {
    const store: Store = new Map()
    const words = (turns: number) => ({
      ...turn(0),
      messages: [user('Go.'), ...Array.from({ length: turns }, () => [said, user('On.')]).flat()],
    })
    const first = head(recordingProxy(on, { store }).text(words(0)))
    expect(first).toContain(blockFor('terse'))
    expect(head(recordingProxy({}, { store }).text(words(1)))).toBe(first)
  })

  it('leave no record of a first request while all are off', () => {
    const store: Store = new Map()
    const proxy = recordingProxy({}, { store })
    const { bytes, records } = proxy.send(turn(0))
    expect(records).toEqual([])
    expect(Buffer.from(bytes).toString()).toBe(JSON.stringify(turn(0)))
  })

  it('are named in the report', () => {
    expect(recordingProxy(on).send(turn(0)).report.levers).toEqual(['verbosity', 'effort', 'tools'])
    expect(recordingProxy({}).send(turn(0)).report.levers).toBeUndefined()
  })

  it('are the same in two processes that see the first request at once', () => {
    const store: Store = new Map()
    const one = recordingProxy(on, { store }).text(turn(0))
    expect(recordingProxy(other, { store }).text(turn(0))).toBe(one)
  })

  it('are reported beside what the client itself changed', () => {
    const proxy = recordingProxy(on)
    proxy.send(turn(1))
    const { report } = proxy.send({ ...turn(2), system: 'Be good. 2026-11-25' })
    expect(report.head_change).toMatchObject({ place: 'system', scope: 'conversation' })
  })
})

describe('the tool that the proxy adds', () => {
  const terms = { redeems: true, bypass: false, addsTool: true } as const
  const tools = [{ type: 'function', name: 'search' }]
  const base = { model: 'gpt-5', store: false, tools, input: [user('Go.')] }
  const has = (more: object) => {
    const proxy = recordingProxy({}, { route: 'openai_responses', terms })
    return proxy.text({ ...base, ...more }).includes('"haversack_retrieve"')
  }

  it.each([
    [true, 'nothing else is said', {}],
    [false, 'the provider has earlier turns', { previous_response_id: 'r1' }],
    [false, 'the provider keeps this one', { store: true }],
    [false, 'there are no tools', { tools: [] }],
    [false, 'the input is one text', { input: 'Go.' }],
    [false, 'the model has spoken', { input: [user('Go.'), said, user('On.')] }],
    [
      true,
      'the effort is set in the input',
      { input: [user('Go.'), { type: 'configuration_update' }] },
    ],
  ])('is there: %s, if %s', (isThere, _, more) => {
    expect(has(more)).toBe(isThere)
  })
})
