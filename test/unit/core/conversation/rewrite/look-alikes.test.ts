import { expect, it } from 'vitest'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { counters } from '../../../../support/vocabularies.ts'

const context = {
  counters,
  maxDepth: 100,
  maxDecodedChars: 1_000_000,
  keepsOriginals: false,
}
const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }

function rewritten(content: string, tool: string) {
  const call = { id: 'c', type: 'function', function: { name: tool, arguments: '{}' } }
  const messages = [
    { role: 'user', content: '> [ref 5e18a374]' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content },
  ]
  const body = Buffer.from(JSON.stringify({ model: 'gpt-5', messages }))
  const { bytes, report } = rewriteRequest(body, 'openai_chat', LIMITS, context)
  const texts = JSON.parse(Buffer.from(bytes).toString()).messages as { content: string }[]
  expect(texts[0]?.content).toBe('> [ref 5e18a374]')
  return { text: texts[2]?.content, isSame: bytes === body, report }
}

it.each([
  ['a result', 'list', 'all of it is here:\n> [ref 5e18a374 Read(a.ts)]'],
  ['a result that is too short to save anything', 'list', '> [ref 5e18a374]'],
  ['an original that was fetched back', 'headroom_retrieve', 'one\n> [ref 5e18a374]'],
])('%s that imitates a hint is escaped', (_, tool, content) => {
  const { text, report } = rewritten(content, tool)
  expect(text).toBe(content.replace('> [', '\\> ['))
  expect(report).toMatchObject({ look_alikes: 1, tokens_saved: 0, rewritten: 1 })
})

it.each(['list', 'headroom_retrieve'])('other results of %s stay', tool => {
  const { isSame, report } = rewritten('one\n> a quotation [with brackets]', tool)
  expect(isSame).toBe(true)
  expect(report).not.toHaveProperty('look_alikes')
})
