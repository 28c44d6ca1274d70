import { describe, expect, it } from 'vitest'
import { createRewriteCache } from '../../../src/core/compress/rewrite-cache.ts'
import { rewriteRequest } from '../../../src/core/compress/rewrite-request.ts'
import type { OperationContext } from '../../../src/core/operations/operation.ts'
import { BYTE_OPERATIONS } from '../../../src/core/operations/registry.ts'
import { createTokenCounters } from '../../../src/core/tokens/counters.ts'
import { bytesOf, header, inlineRunner, workerSetup } from '../../support/runner.ts'

const setup = workerSetup()
const context: OperationContext = {
  counters: createTokenCounters(setup.vocabularies),
  maxDepth: 100,
  maxDecodedChars: 1_000_000,
  keepsOriginals: false,
}
const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }

const ROWS = JSON.stringify(
  Array.from({ length: 8 }, (_, id) => ({ id, name: `n${id}` })),
  null,
  2,
)

/** A conversation of one call and its result. */
function chat(text: string, tool = 'list', model = 'gpt-5'): string {
  const call = { id: 'c', type: 'function', function: { name: tool, arguments: '{"a": 1.0}' } }
  return JSON.stringify({
    model,
    messages: [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: text },
    ],
  })
}

/** The same in the other vendor's shape. */
function answered(fields: object): string {
  const call = { type: 'tool_use', id: 'c', name: 'list', input: { a: 1 } }
  const result = { type: 'tool_result', tool_use_id: 'c', content: ROWS, ...fields }
  return JSON.stringify({
    model: 'gpt-5',
    messages: [
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ],
  })
}

const rewrite = (body: string) => rewriteRequest(bytesOf(body), 'openai_chat', LIMITS, context)

describe('a request', () => {
  it('gets the smaller text in the very place, and says what was saved', () => {
    const body = chat(ROWS)
    const { bytes, ...rest } = rewrite(body)
    const [before, after] = body.split(JSON.stringify(ROWS)) as [string, string]
    const written = Buffer.from(bytes).toString()
    expect(written.startsWith(before) && written.endsWith(after)).toBe(true)
    const text: string = JSON.parse(written).messages[1].content
    const counter = context.counters.get('openai_o200k')
    expect(rest).toEqual({
      readable: true,
      texts: 1,
      rewritten: 1,
      tokens_saved: counter.count(ROWS) - counter.count(text),
    })
    expect(rest.tokens_saved).toBeGreaterThan(0)
  })

  it.each([
    ['results without a gain', chat('just a sentence')],
    ['an empty result', chat('')],
    ['what was given back on demand', chat(ROWS, 'headroom_retrieve')],
    ['what was given back by the tool of a server', chat(ROWS, 'mcp__x__headroom_retrieve')],
  ])('stays the very body with %s', (_, body) => {
    const bytes = bytesOf(body)
    const answer = rewriteRequest(bytes, 'openai_chat', LIMITS, context)
    expect(answer.bytes).toBe(bytes)
    expect(answer).toMatchObject({ readable: true, texts: 1, rewritten: 0, tokens_saved: 0 })
  })

  it.each(['', '[', '{}', 'null', '{"messages":{}}'])('is not readable: %j', body => {
    const bytes = bytesOf(body)
    expect(rewriteRequest(bytes, 'anthropic_messages', LIMITS, context)).toMatchObject({
      bytes,
      readable: false,
      texts: 0,
    })
  })

  it('keeps halves of surrogate pairs around what is rewritten', () => {
    const odd = `{"messages":[{"role":"user","content":"\\ud800"},${chat(ROWS).slice(chat(ROWS).indexOf('[') + 1)}`
    const written = Buffer.from(rewrite(odd).bytes).toString()
    expect(written).toContain('"\\ud800"')
    expect(written.length).toBeLessThan(odd.length)
  })
})

describe('the operation', () => {
  const run = inlineRunner(BYTE_OPERATIONS, setup)

  it('answers the new bytes, and none where nothing changes', () => {
    const bodies = [chat(ROWS), chat('nothing')].map(bytesOf)
    const body = bytesOf(Buffer.concat(bodies))
    const jobs = bodies.map((bytes, n) =>
      header('rewrite_openai_chat', bytes, { start: n === 0 ? 0 : bodies[0]!.length }),
    )
    const result = run({ jobs, body: body.buffer, slot: 0 })
    const [first, second] = result.outcomes
    expect(first).toMatchObject({ kind: 'done', length: rewrite(chat(ROWS)).bytes.length })
    expect(second).toMatchObject({ kind: 'done', length: 0 })
    expect(Buffer.from(result.body).toString()).toBe(
      Buffer.from(rewrite(chat(ROWS)).bytes).toString(),
    )
  })
})

describe('texts that were written before', () => {
  const remembering = () => ({ ...context, rewrites: createRewriteCache(1_000_000) })

  it('are written the same again, by model and tool, errors apart', () => {
    const shared = remembering()
    const bodies = [
      chat(ROWS),
      chat(ROWS, 'other'),
      chat(ROWS, 'list', 'claude-sonnet-4-6'),
      chat('"short"'),
      chat(ROWS.replaceAll('n1', 'n2')),
    ]
    for (const body of [...bodies, ...bodies.toReversed()]) {
      const again = rewriteRequest(bytesOf(body), 'openai_chat', LIMITS, shared)
      expect(again).toEqual(rewrite(body))
    }
  })

  it('are not encoded again', () => {
    const shared = remembering()
    rewriteRequest(bytesOf(chat(ROWS)), 'openai_chat', LIMITS, shared)
    const blind = { ...shared, counters: { get: () => expect.unreachable('counted again') } }
    const { rewritten } = rewriteRequest(bytesOf(chat(ROWS)), 'openai_chat', LIMITS, blind)
    expect(rewritten).toBe(1)
  })

  it.each([
    ['for another model', chat(ROWS, 'list', 'claude-sonnet-4-6'), 'openai_chat'],
    ['for another tool', chat(ROWS, 'other'), 'openai_chat'],
    ['as an error', answered({ is_error: true }), 'anthropic_messages'],
  ] as const)('are encoded anew %s', (_, body, route) => {
    const shared = remembering()
    rewriteRequest(bytesOf(chat(ROWS)), 'openai_chat', LIMITS, shared)
    rewriteRequest(bytesOf(answered({})), 'anthropic_messages', LIMITS, shared)
    const counted = () => {
      throw new Error('counted')
    }
    const blind = { ...shared, counters: { get: counted } }
    expect(() => rewriteRequest(bytesOf(body), route, LIMITS, blind)).toThrow('counted')
  })

  it('are forgotten, the least recently used first, where there is no room', () => {
    const cache = createRewriteCache(3_000)
    const value = { text: 'x'.repeat(500), tokensSaved: 1 }
    cache.set('a', value)
    cache.set('b', value)
    cache.get('a')
    cache.set('c', value)
    expect(['a', 'b', 'c'].map(key => cache.get(key) !== undefined)).toEqual([true, false, true])
    cache.set('large', { text: 'x'.repeat(5_000), tokensSaved: 1 })
    expect(cache.get('large')).toBeUndefined()
    expect(cache.get('a')).toBe(value)
  })
})
