import { describe, expect, it } from 'vitest'
import { createRetrievingAnswer } from '../../../../../src/core/conversation/retrieve/create-answer.ts'
import { retrieveDefinition } from '../../../../../src/core/conversation/retrieve/retrieve-tool.ts'
import type { Fields } from '../../../../../src/core/dialects/bodies/route.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'

const OWN = 'haversack_retrieve'

/** Plays rounds of events; each but the last has our calls alone. Returns events of the client. */
function play(route: RouteName, rounds: readonly (readonly object[])[]) {
  const answer = createRetrievingAnswer(route)!
  const passed: Uint8Array[] = []
  const items: string[] = []
  for (const [at, events] of rounds.entries()) {
    for (const data of events as readonly Fields[]) {
      const name = data['type'] === undefined ? null : String(data['type'])
      const raw = Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
      passed.push(...answer.event({ raw, name, data }))
    }
    if (at < rounds.length - 1) {
      expect(answer.waitsForUs).toBe(true)
      items.push(answer.nextRound(answer.calls.map(({ id }) => `text of ${id}`)))
    }
  }
  const finished = answer.finishStream(answer.calls.map(({ id }) => `text of ${id}`))
  const text = Buffer.concat([...passed, ...finished.sent]).toString()
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!) as Fields)
  return { events, items, hidden: finished.hidden! }
}

const all = (events: readonly Fields[], key: string): readonly unknown[] => {
  const found: unknown[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === key) found.push(inner)
      walk(inner)
    }
  }
  walk(events)
  return found
}

it('our tool is defined as each API has tools', () => {
  const [anthropic, chat, responses] = (
    ['anthropic_messages', 'openai_chat', 'openai_responses'] as const
  ).map(route => JSON.parse(retrieveDefinition(route)!))
  const { input_schema: parameters, ...named } = anthropic
  expect([named.name, parameters.type]).toEqual([OWN, 'object'])
  expect(chat).toEqual({ type: 'function', function: { ...named, parameters } })
  expect(responses).toEqual({ type: 'function', ...named, parameters, strict: false })
})

describe('a streamed answer with our calls cut out', () => {
  it('of Anthropic counts blocks and output over all rounds, and the last prompt', () => {
    const block = (index: number, content_block: object, delta: object) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]
    const say = (index: number) =>
      block(index, { type: 'text', text: '' }, { type: 'text_delta', text: 'So.' })
    const call = (index: number, id: string, name: string) =>
      block(
        index,
        { type: 'tool_use', id, name, input: {} },
        { type: 'input_json_delta', partial_json: '{"hash":"h"}' },
      )
    const around = (input_tokens: number, inner: readonly object[]) => [
      { type: 'message_start', message: { id: `m${input_tokens}`, usage: { input_tokens } } },
      ...inner,
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { output_tokens: input_tokens / 10 },
      },
      { type: 'message_stop' },
    ]
    const { events, items, hidden } = play('anthropic_messages', [
      around(100, [...say(0), ...say(1), ...call(2, 'o1', OWN)]),
      around(200, [...call(0, 'o2', OWN), ...call(1, 'c1', 'search')]),
    ])
    const starts = events.filter(({ type }) => type === 'content_block_start')
    expect(all(starts, 'index')).toEqual([0, 1, 2])
    expect(events.filter(({ type }) => type === 'message_start')).toHaveLength(1)
    expect(events.at(-2)).toMatchObject({
      ...{ type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      usage: { input_tokens: 200, output_tokens: 30 },
    })
    expect(items[0]).toContain('"text of o1"')
    expect(hidden).toMatchObject({ anchor: 'c1', rounds: [{ shown: 2 }] })
    expect(hidden.calls).toMatchObject([{ at: 0, resultAt: 0 }])
  })

  it('of a chat counts calls and output over all rounds, under the first name', () => {
    const chunk = (id: string, delta: object, finish_reason: string | null = null) => {
      return { id, created: 1, choices: [{ index: 0, delta, finish_reason }] }
    }
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '{}' } }],
    })
    const usage = (id: string, prompt: number) => {
      const figures = { prompt_tokens: prompt, completion_tokens: prompt / 10, total_tokens: 0 }
      return { id, created: 1, choices: [], usage: figures }
    }
    const { events, hidden } = play('openai_chat', [
      [
        chunk('one', { role: 'assistant', content: 'So.' }),
        chunk('one', call(0, 'o1', OWN)),
        chunk('one', {}, 'tool_calls'),
        usage('one', 100),
      ],
      [
        chunk('two', call(0, 'o2', OWN)),
        chunk('two', call(1, 'c1', 'search')),
        chunk('two', {}, 'tool_calls'),
        usage('two', 200),
      ],
    ])
    expect(new Set(events.map(({ id }) => id))).toEqual(new Set(['one']))
    const [calls] = all(events, 'tool_calls')
    expect(calls).toMatchObject([{ index: 0, id: 'c1', function: { name: 'search' } }])
    expect(all(events, 'finish_reason').filter(Boolean)).toEqual(['tool_calls'])
    expect(events.at(-1)).toMatchObject({
      usage: { prompt_tokens: 200, completion_tokens: 30, total_tokens: 230 },
    })
    expect(hidden).toMatchObject({ anchor: 'c1', rounds: [{ shown: 3 }] })
    expect(hidden.calls).toMatchObject([{ at: 0, resultAt: 0 }])
  })

  it('of Responses numbers events and items without gaps, under the first id', () => {
    const call = (call_id: string, name: string) => {
      return { type: 'function_call', id: `f${call_id}`, call_id, name, arguments: '{}' }
    }
    const round = (id: string, items: readonly object[], input_tokens: number) => {
      const usage = { input_tokens, output_tokens: input_tokens / 10, total_tokens: 0 }
      const response = { id, status: 'completed', output: items, usage }
      const events = [
        { type: 'response.created', response: { id, status: 'in_progress' } },
        ...items.flatMap((item, output_index) => [
          { type: 'response.output_item.added', output_index, item },
          { type: 'response.output_item.done', output_index, item },
        ]),
        { type: 'response.completed', response },
      ]
      return events.map((event, sequence_number) => ({ ...event, sequence_number }))
    }
    const message = { type: 'message', id: 'm', role: 'assistant', content: [] }
    const { events, hidden } = play('openai_responses', [
      round('one', [message, message, call('o1', OWN)], 100),
      round('two', [call('o2', OWN), call('c1', 'search')], 200),
    ])
    expect(all(events, 'sequence_number')).toEqual(events.map((_, at) => at))
    expect(all(events, 'output_index')).toEqual([0, 0, 1, 1, 2, 2])
    expect(events.at(-1)!['response']).toMatchObject({
      ...{ id: 'one', output: [message, message, { call_id: 'c1' }] },
      usage: { input_tokens: 200, output_tokens: 30, total_tokens: 230 },
    })
    expect(hidden).toMatchObject({ anchor: 'c1', rounds: [{ shown: 2 }] })
    expect(hidden.calls).toMatchObject([{ at: 0, resultAt: 0 }])
  })
})
