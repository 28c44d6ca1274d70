import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { conversationName } from '../../../../../src/core/conversation/parse/conversation-name.ts'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { commonBytes } from '../../../../../src/core/conversation/parse/shared-messages.ts'
import { createResultKeys } from '../../../../../src/core/conversation/rewrite/result-keys.ts'
import {
  createTurnMemories,
  type TurnMemory,
} from '../../../../../src/core/conversation/rewrite/turn-memory.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { runs } from '../../../../support/runs.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }

/** All that is known of a request, as plain data. */
function told(scanned: ReturnType<typeof scanRequest>) {
  if (scanned === null) return null
  const { body, read, results, checkpoint: _, ...rest } = scanned
  const texts = results.map(each => ({
    ...each,
    text: each.text(),
    args: each.args(),
    tool: each.tool,
    isError: each.isError,
  }))
  return { ...rest, texts, read: JSON.stringify(read), body: body.toString('latin1') }
}

const call = (id: string, tool: string) => ({ type: 'tool_use', id, name: tool, input: { id } })
const message = fc.oneof(
  fc.record({
    role: fc.constantFrom('user', 'assistant'),
    content: fc.constantFrom('Hm.', '[1]', ''),
  }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.array(fc.constantFrom(call('a', 'Read'), call('b', 'Bash')), { maxLength: 2 }),
  }),
  fc.record({
    role: fc.constant('user'),
    content: fc.array(
      fc.record(
        {
          type: fc.constant('tool_result'),
          tool_use_id: fc.constantFrom('a', 'b'),
          content: fc.constantFrom('one text', 'another "text"', [{ type: 'text', text: 'part' }]),
          cache_control: fc.constant({ type: 'ephemeral' }),
        },
        { requiredKeys: ['type', 'tool_use_id', 'content'] },
      ),
      { maxLength: 3 },
    ),
  }),
)

/**
 * A body as it may come in next: with more messages, fewer, others, broken off, or of another
 * endpoint.
 */
const turn = fc.record({
  route: fc.constantFrom<RouteName>('anthropic_messages', 'anthropic_messages', 'openai_chat'),
  keep: fc.nat(8),
  more: fc.array(message, { maxLength: 3 }),
  fields: fc.constantFrom({}, { tools: [{ name: 'x' }] }, { model: 'm' }),
  space: fc.constantFrom(undefined, 1),
  cut: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(40) }),
  terms: fc.constantFrom('one', 'two'),
})

describe('a thread that remembers turns', () => {
  it('reads every body as one that remembers nothing', () => {
    fc.assert(
      fc.property(
        fc.array(turn, { maxLength: 12 }),
        fc.integer({ min: 1, max: 3 }),
        (turns, size) => {
          const memory = createTurnMemories(size).of('team')
          let messages: object[] = []
          for (const { route, keep, more, fields, space, cut, terms } of turns) {
            messages = [...messages.slice(0, messages.length - (keep % 3)), ...more]
            const text = JSON.stringify({ messages, ...fields }, null, space)
            const body = bytesOf(text.slice(0, text.length - cut))
            const scanned = memory.scan(body, route, LIMITS)
            const anew = scanRequest(bytesOf(body), route, LIMITS)
            expect(told(scanned)).toEqual(told(anew))
            if (scanned === null || anew === null) continue
            expect(conversationName(scanned)).toBe(conversationName(anew))
            const names = createResultKeys(bytesOf(body), terms)
            const expected = anew.results.map(each => names.next(each))
            const known = memory.knownKeys(scanned, terms)
            expect(known).toEqual(expected.slice(0, known.length))
            const rest = createResultKeys(body, terms)
            rest.resume(known)
            const keys = [
              ...known,
              ...scanned.results.slice(known.length).map(each => rest.next(each)),
            ]
            expect(keys).toEqual(expected)
            memory.keep({ scanned, terms, keys })
          }
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('takes over what the turn before has at the same place', () => {
    const memory = createTurnMemories(1).of('team')
    const messages = [
      { role: 'user', content: 'Go on.' },
      { role: 'assistant', content: [call('a', 'Read')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'text' }] },
    ]
    const bodyOf = (list: readonly object[]) =>
      bytesOf(JSON.stringify({ model: 'm', messages: list }))
    const first = memory.scan(bodyOf(messages), 'anthropic_messages', LIMITS)!
    memory.keep({ scanned: first, terms: '', keys: ['k'] })
    const later = memory.scan(bodyOf([...messages, messages[0]!]), 'anthropic_messages', LIMITS)!
    expect(later.read.slice(0, 3).every((node, i) => node === first.read[i])).toBe(true)
    expect(memory.knownKeys(later, '')).toEqual(['k'])
    expect(memory.knownKeys(later, 'other terms')).toEqual([])
  })

  it('takes over that a program got a result', () => {
    const memory = createTurnMemories(1).of('team')
    const made = { ...call('a', 'Read'), caller: { type: 'program' } }
    const messages: object[] = [
      { role: 'assistant', content: [made] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'text' }] },
    ]
    for (let turn = 0; turn < 12; turn++) {
      messages.push({ role: 'user', content: 'Go on.' })
      const scanned = memory.scan(
        bytesOf(JSON.stringify({ messages })),
        'anthropic_messages',
        LIMITS,
      )!
      expect(scanned.forPrograms.map(({ tool }) => tool)).toEqual(['Read'])
      memory.keep({ scanned, terms: '', keys: [] })
    }
  })

  it('reads a body as a new one, whatever other tenants have sent', () => {
    const memories = createTurnMemories(4)
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(9000) }] })
    const scan = (tenant: string) => {
      const memory = memories.of(tenant)
      const scanned = memory.scan(bytesOf(body), 'anthropic_messages', LIMITS)!
      const known = memory.knownKeys(scanned, '')
      memory.keep({ scanned, terms: '', keys: ['k'] })
      return { known, node: scanned.read[0] }
    }
    const mine = scan('mine')
    const other = scan('other')
    expect(other.known).toEqual([])
    expect(other.node).not.toBe(mine.node)
    expect(scan('mine')).toEqual({ known: ['k'], node: mine.node })
    expect(scan('mine').node).toBe(mine.node)
    expect(scan('other').node).toBe(other.node)
  })

  it('frees the body of a turn once another one takes its place, and no other', () => {
    const freed: Uint8Array[] = []
    const memory = createTurnMemories(2, {
      free(body) {
        freed.push(Buffer.from(body))
        body.fill(0)
      },
    }).of('team')
    const bodyOf = (...said: readonly string[]) =>
      JSON.stringify({ messages: said.map(content => ({ role: 'user', content })) })
    const play = (text: string) => {
      const scanned = memory.scan(bytesOf(text), 'anthropic_messages', LIMITS)!
      expect(told(scanned)).toEqual(told(scanRequest(bytesOf(text), 'anthropic_messages', LIMITS)))
      memory.keep({ scanned, terms: '', keys: [] })
      return told(scanned)?.body
    }
    const long = Array.from({ length: 6 }, (_, n) => `said ${n}`)
    const others = ['one', 'two'].map(name => bodyOf(...long.map(text => `${name} ${text}`)))
    expect(play(bodyOf(...long))).toBe(bodyOf(...long))
    play(others[0]!)
    expect(freed).toEqual([])
    // It continues the first one.
    expect(play(bodyOf(...long, 'more'))).toBe(bodyOf(...long, 'more'))
    expect(String(freed)).toBe(bodyOf(...long))
    // There is no room for a third conversation.
    play(others[1]!)
    expect(String(freed[1])).toBe(others[0])
    expect(freed.length).toBe(2)
  })

  it('keeps a buffer in which the next turn has come too', () => {
    const free = vi.fn()
    const memory = createTurnMemories(1, { free }).of('team')
    const body = bytesOf(JSON.stringify({ messages: [{ role: 'user', content: 'Go on.' }] }))
    for (let turn = 0; turn < 2; turn++) {
      const scanned = memory.scan(body, 'anthropic_messages', LIMITS)!
      memory.keep({ scanned, terms: '', keys: [] })
    }
    expect(free).not.toHaveBeenCalled()
  })

  it('forgets bodies of which far more is read than they are long', () => {
    for (const [messages, isKept] of [
      [10_000, true],
      [60_000, false],
    ] as const) {
      const memory = createTurnMemories(2).of('team')
      const body = `{"model":"m","messages":[${Array(messages).fill('{}').join()}]}`
      const scan = () => memory.scan(bytesOf(body), 'anthropic_messages', LIMITS)!
      const scanned = scan()
      memory.keep({ scanned, terms: '', keys: [] })
      expect(scan().read[0] === scanned.read[0]).toBe(isKept)
    }
  })

  it('forgets what was used longest ago, where bodies are many or together too large', () => {
    const scan = (memory: TurnMemory, n: number, bytes: number) => {
      // Long enough for a turn that begins otherwise to be another conversation.
      const said = [`${n}${'x'.repeat(bytes)}`, 'a', 'b', 'c', 'd']
      const messages = said.map(content => ({ role: 'user', content }))
      const scanned = memory.scan(
        bytesOf(JSON.stringify({ messages, model: 'm' })),
        'anthropic_messages',
        LIMITS,
      )!
      memory.keep({ scanned, terms: '', keys: [] })
      return scanned.read[0]
    }
    for (const [turns, bytes, kept] of [
      [3, 10, 3],
      [32, 4_000_000, 8],
    ] as const) {
      const memory = createTurnMemories(turns).of('team')
      const all = Array.from({ length: kept + 1 }, (_, n) => scan(memory, n, bytes))
      const again = all.map((_, n) => scan(memory, kept - n, bytes)).toReversed()
      expect(all.map((node, n) => node === again[n])).toEqual([false, ...Array(kept).fill(true)])
    }
  })
})

it.each([
  ['', '', 0],
  ['abc', 'abd', 2],
  ['abc', 'abc', 3],
  ['x'.repeat(9000), 'x'.repeat(8191), 8191],
  ['x'.repeat(9000), `${'x'.repeat(5000)}y`, 5000],
])('counts common bytes', (a, b, expected) => {
  expect(commonBytes(Buffer.from(a), Buffer.from(b))).toBe(expected)
})

it('counts common bytes wherever two long texts part', () => {
  const length = 2_000_000
  const text = Buffer.alloc(length, 'x')
  for (const at of [0, 4095, 4096, 20_479, 20_480, 348_160, 1_000_001, length - 1]) {
    const other = Buffer.from(text)
    other[at] = 0
    // What follows agrees again.
    expect(commonBytes(text, other)).toBe(at)
    expect(commonBytes(text, text.subarray(0, at))).toBe(at)
  }
  expect(commonBytes(text, Buffer.from(text))).toBe(length)
})
