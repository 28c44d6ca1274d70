import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccess } from '../../../../../src/access/access.ts'
import type { CompressRequest } from '../../../../../src/core/contract/compress.ts'
import { compressMessages } from '../../../../../src/core/conversation/rewrite/compress-messages.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { testApp } from '../../../../support/app.ts'
import { keyFor } from '../../../../support/keys.ts'
import { localContext } from '../../../../support/local-context.ts'
import { page } from '../../../../support/made-text.ts'
import { fewRuns } from '../../../../support/short-runs.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }

/** A thread that has seen nothing. */
const fresh = () => ({
  ...localContext(),
  keepsOriginals: true,
  terms: { redeems: false, bypass: false },
  rewrites: {
    tenant: 't',
    memory: attachRewriteMemory(createBodyMemory({ bytes: 1 << 18 })),
    recalled: {},
    history: createHistoryMemory(2, 1 << 19),
  },
})

interface Step {
  readonly id: string
  readonly file: string
  readonly text: string
  readonly isError?: boolean
  readonly inParts?: boolean
}

const anthropic = (steps: readonly Step[]): Record<string, unknown>[] =>
  steps.flatMap(({ id, file, text, isError = false, inParts = false }) => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: file } }],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: id,
          content: inParts
            ? [
                { type: 'text', text: 'It is:' },
                { type: 'text', text },
              ]
            : text,
          ...(isError ? { is_error: true } : {}),
        },
      ],
    },
  ])

const chat = (steps: readonly Step[]): Record<string, unknown>[] =>
  steps.flatMap(({ id, file, text }) => {
    const call = { name: 'Read', arguments: JSON.stringify({ file_path: file }) }
    return [
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: call }] },
      { role: 'tool', tool_call_id: id, content: text },
    ]
  })

const MODEL = 'gpt-5'

function compressed(messages: object[], context = fresh(), fields: object = {}): unknown[] {
  const config = { references: true }
  const request = { model: MODEL, messages, config, ...fields } as CompressRequest
  return compressMessages(request, context).messages
}

function proxied(messages: object[], route: 'openai_chat' | 'anthropic_messages'): unknown[] {
  const body = Buffer.from(JSON.stringify({ model: MODEL, messages }))
  const { bytes } = rewriteRequest(body, route, LIMITS, fresh())
  return JSON.parse(Buffer.from(bytes).toString()).messages
}

const read = (n: number, seed: number): Step => ({
  id: `c${n}`,
  file: `/src/${seed}.ts`,
  text: page(seed),
})
const REFERENCE = /^> \[ref [0-9a-f]{8}/

describe('references in /v1/compress', () => {
  it('name the earlier call, in the shapes of both vendors', () => {
    const steps = [read(1, 1), read(2, 2), read(3, 1)]
    const [, , , , , last] = compressed(chat(steps)) as { content: string }[]
    expect(last?.content).toMatch(REFERENCE)
    expect(last?.content).toContain('Read 2 calls ago')
    const [, , , , , block] = compressed(anthropic(steps)) as { content: { content: string }[] }[]
    expect(block?.content[0]?.content).toBe(last?.content)
  })

  it('are never to what the agent wrote in another conversation of the thread', () => {
    const conversationWith = (written: string) => {
      const [call, result] = anthropic([{ id: 'w', file: '', text: 'Written.' }])
      const use = { type: 'tool_use', id: 'w', name: 'Write', input: { content: written } }
      return [{ ...call, content: [use] }, result!, ...anthropic([read(1, 1)])]
    }
    const thread = fresh()
    const first = compressed(conversationWith(page(1)), thread)
    expect(JSON.stringify(first)).toContain('> [ref ')
    const other = compressed(conversationWith(page(2)), thread)
    expect(other).toEqual(compressed(conversationWith(page(2))))
    expect(JSON.stringify(other)).not.toContain('> [ref ')
  })

  it('are those of the proxies, for any conversation', () => {
    const step = fc.record({
      // Ids that come again, as those of models that number their calls in each turn.
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      file: fc.constantFrom('/x.ts', '/y.ts'),
      text: fc
        .array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 })
        .map(seeds => seeds.map(seed => page(seed)).join('\n')),
      isError: fc.boolean(),
      inParts: fc.boolean(),
    })
    const SAME = { id: 'a', file: '/x.ts', text: page(1), isError: false, inParts: false }
    let referred = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 8 }), steps => {
        const messages = anthropic(steps)
        const sent = compressed(messages)
        expect(sent).toEqual(proxied(messages, 'anthropic_messages'))
        if (JSON.stringify(sent).includes('> [ref ')) referred++
        const chats = chat(steps)
        expect(compressed(chats)).toEqual(proxied(chats, 'openai_chat'))
      }),
      { numRuns: fewRuns(20, 3), examples: [[[SAME, SAME]]] },
    )
    expect(referred).toBeGreaterThan(0)
  })

  it('leave the texts of earlier turns as they were, in any thread', () => {
    const steps = [read(1, 1), read(2, 2), read(3, 1), read(4, 2), read(5, 1)]
    const thread = fresh()
    const all = compressed(chat(steps))
    for (const turn of [1, 2, 4, 3, 5]) {
      expect(compressed(chat(steps.slice(0, turn)), thread)).toEqual(all.slice(0, 2 * turn))
    }
  })

  it.each([
    ['nothing asks for them', { config: {} }],
    ['the request says no', { config: { references: false } }],
    ['there is a budget', { token_budget: 100_000 }],
  ])('are not made if %s', (_, fields) => {
    const messages = chat([read(1, 1), read(2, 1)])
    expect(JSON.stringify(compressed(messages, fresh(), fields))).not.toContain('> [ref')
  })

  it('are not made if a reader cannot tell the call', () => {
    const steps = [read(1, 1), read(2, 1)]
    const results = chat(steps).filter(({ role }) => role === 'tool')
    expect(JSON.stringify(compressed(results))).not.toContain('> [ref')
    const call = { id: 'x', type: 'function', function: { name: 'Read', arguments: '{}' } }
    const both = { role: 'assistant', tool_calls: [call, call] }
    const twice = [both, ...results.map(each => ({ ...each, tool_call_id: 'x' }))]
    expect(JSON.stringify(compressed(twice))).not.toContain('> [ref')
    const program = anthropic(steps).map(message =>
      JSON.parse(JSON.stringify(message).replace('"input"', '"caller":{"type":"code"},"input"')),
    )
    expect(JSON.stringify(compressed(program))).not.toContain('> [ref')
  })

  it('do not reach the texts of a tool that fetches originals', () => {
    const steps = [read(1, 1), read(2, 1), read(3, 1)]
    const text = JSON.stringify(chat(steps)).replace('"Read"', '"haversack_retrieve"')
    const sent = compressed(JSON.parse(text)) as { content: string }[]
    expect(sent.map(({ content }) => REFERENCE.test(content ?? ''))).toEqual([
      ...[false, false, false, false, false],
      true,
    ])
  })

  it('are a setting of a key', async () => {
    const whole = keyFor('whole', { references: true })
    const other = keyFor('other')
    const { post } = testApp({ access: createAccess([whole.record, other.record], () => 0) })
    const messages = chat([read(1, 1), read(2, 1)])
    const ask = async (key: typeof whole, config: object = {}) => {
      const body = JSON.stringify({ model: MODEL, messages, config })
      return (await post('/v1/compress', body, key.headers)).text()
    }
    expect(await ask(whole)).toContain('> [ref')
    expect(await ask(whole, { references: false })).not.toContain('> [ref')
    expect(await ask(other)).not.toContain('> [ref')
    expect(await ask(other, { references: true })).toContain('> [ref')
  })
})
