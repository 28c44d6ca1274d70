import { describe, expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { rows } from './conversation.ts'

const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }

/** A request to Gemini with so many results. */
function request(results: number) {
  const contents = Array.from({ length: results }, (_, seed) => [
    { role: 'model', parts: [{ functionCall: { name: 'list', args: { seed } } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'list', response: { output: rows(20, seed * 100) } } }],
    },
  ])
  return bytesOf(JSON.stringify({ contents: contents.flat() }))
}

/** A process that remembers what it sent. */
function service(model?: string) {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  return {
    ...localContext(),
    rewrites: { tenant: '', memory, recalled: {} },
    terms: { redeems: false, bypass: false, ...(model === undefined ? {} : { model }) },
  }
}

function turn(results: number, context: ReturnType<typeof service>) {
  const sent = rewriteRequest(request(results), 'gemini_generate', LIMITS, context)
  for (const { position } of sent.records) context.rewrites.memory.confirm(position!)
  return sent.report.fresh
}

describe('results that come for the first time', () => {
  it('are counted once, whatever turns follow', () => {
    const context = service('gpt-5')
    const one = turn(1, context)!
    expect(one).toMatchObject({ tokenizer: 'openai_o200k', count: 1 })
    expect(one.after).toBeLessThan(one.before * 0.6)
    expect(turn(1, context)).toBeUndefined()
    expect(turn(3, context)?.count).toBe(2)
    expect(turn(3, context)).toBeUndefined()
  })

  it('are counted by the tokenizer of the model that the path names', () => {
    expect(turn(1, service('claude-sonnet-4-5'))?.tokenizer).toMatch(/anthropic|claude/)
    expect(turn(1, service())?.tokenizer).toBe('o200k_base')
  })
})
