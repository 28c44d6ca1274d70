import { describe, expect, it } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { restoreTurns } from '../../../../../src/core/conversation/retrieve/restore-turns.ts'
import type { HiddenTurn } from '../../../../../src/core/conversation/retrieve/retrieving-answer.ts'
import {
  anthropicShown,
  chatShown,
  responsesShown,
} from '../../../../../src/core/conversation/retrieve/shown-turn.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { splice } from '../../../../../src/core/json/bytes/splice.ts'

const LIMITS = { maxBytes: 10_000, maxDepth: 20, maxValues: 999 }
const USER = { role: 'user', content: 'Look.' }

/** The messages of a request with all that was hidden from one turn of it. */
function restored(route: RouteName, messages: readonly object[], turn: HiddenTurn) {
  const key = route === 'openai_responses' ? 'input' : 'messages'
  const body = Buffer.from(JSON.stringify({ [key]: messages }))
  const turns = { of: (_: number, anchor: string) => (anchor === turn.anchor ? turn : null) }
  const { replacements, restored, changed } = restoreTurns(scanRequest(body, route, LIMITS)!, turns)
  const text = Buffer.from(splice(body, replacements)).toString()
  return { messages: JSON.parse(text)[key] as object[], text, restored, changed }
}

/** Ids in the order of a text. */
const idsIn = (value: object) =>
  [...JSON.stringify(value).matchAll(/"(?:id|tool_use_id|call_id|tool_call_id)":"(\w+)"/g)].map(
    ([, id]) => id,
  )
const hidden = (call: object, result: object, at: number, resultAt: number) => {
  return { at, call: JSON.stringify(call), resultAt, result: JSON.stringify(result) }
}
const round = (shown: number, ...items: readonly object[]) => {
  return { shown, items: items.map(item => JSON.stringify(item)).join(',') }
}

describe('what was hidden comes back in its place', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'r' })
  const said = [{ type: 'text', text: 'Both.' }, use('a'), use('c')]
  const messages = [
    USER,
    { role: 'assistant', content: said },
    { role: 'user', content: [result('a'), result('c'), { type: 'text', text: 'x' }] },
  ]
  const calls = [hidden(use('b'), result('b'), 2, 1)]
  const turn = { shown: anthropicShown(said), anchor: 'a', rounds: [], calls }

  it('of messages of Anthropic', () => {
    const { messages: whole, restored: count } = restored('anthropic_messages', messages, turn)
    expect(idsIn(whole)).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    expect(count).toBe(1)
  })

  it('of rounds before, of which the client has the text', () => {
    const first = { role: 'assistant', content: [said[0], use('own')] }
    const rounds = [round(1, first, { role: 'user', content: [result('own')] })]
    const [before] = calls
    const after = { ...turn, rounds, calls: [{ ...before!, at: 1 }] }
    const { messages: whole } = restored('anthropic_messages', messages, after)
    expect(idsIn(whole)).toEqual(['own', 'own', 'a', 'b', 'c', 'a', 'b', 'c'])
    expect(JSON.stringify(whole).match(/Both\./g)).toHaveLength(1)
  })

  it('hidden turns of a chat come back in their place', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f' } })
    const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'r' })
    const chat = [
      USER,
      { role: 'assistant', content: 'Both.', tool_calls: [call('a'), call('c')] },
      ...[tool('a'), tool('c')],
    ]
    const shown = chatShown('Both.', ['a', 'c'])
    const own = { ...turn, shown, calls: [hidden(call('b'), tool('b'), 1, 1)] }
    const { messages: whole } = restored('openai_chat', chat, own)
    expect(idsIn(whole)).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  })

  it('hidden items come back in their place', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f' })
    const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'r' })
    const items = [call('a'), call('c')]
    const own = hidden(call('b'), output('b'), 1, 0)
    const shown = responsesShown(items)
    const request = [USER, ...items, output('a'), output('c')]
    const { messages: whole } = restored('openai_responses', request, {
      ...turn,
      ...{ shown, calls: [own] },
    })
    expect(idsIn(whole)).toEqual(['a', 'b', 'b', 'c', 'a', 'c'])
  })

  it('unless the client has changed the turn', () => {
    const other = { ...turn, shown: anthropicShown([]) }
    const found = restored('anthropic_messages', messages, other)
    expect(found.messages).toEqual(messages)
    expect(found).toMatchObject({ restored: 0, changed: 1 })
  })
})
