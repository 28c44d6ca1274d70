import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { compressMessages } from '../../../../../src/core/conversation/rewrite/compress-messages.ts'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'

const PAGE = Array.from({ length: 30 }, (_, i) => hash('sha256', `${i}`, 'base64url'))
const MCP = (lines: readonly string[]) =>
  JSON.stringify({ content: [{ type: 'text', text: lines.join('\n') }], isError: false })

const messages = (contents: readonly string[]) =>
  contents.flatMap((content, at) => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `c${at}`, name: 'fetch', input: { url: `/${at}` } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${at}`, content }] },
  ])

function compress(contents: readonly string[], history = createHistoryMemory(2)) {
  const rewrites = {
    tenant: 't',
    memory: attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 })),
    recalled: {},
    history,
  }
  const terms = { redeems: false, bypass: false }
  const context = { ...localContext(), keepsOriginals: true, terms, rewrites }
  const config = { references: true }
  const request = { model: 'gpt-5', messages: messages(contents), config }
  const sent = compressMessages(request, context).messages as { content: { content?: string }[] }[]
  return sent.flatMap(({ content }) => content.flatMap(block => block.content ?? []))
}

const results = [
  PAGE.join('\n'),
  MCP([...PAGE.slice(0, 12), 'new', ...PAGE.slice(12)]),
  MCP(['another', ...PAGE.slice(3, 25)]),
  ['bare', 'new', ...PAGE.slice(12)].join('\n'),
]

it('a conversation refers to texts in strings, wrapped and bare', () => {
  const [first, wrapped = '', again = '', bare = ''] = compress(results)
  expect(first).toBe(results[0])
  expect(wrapped).toMatch(
    /^> \[ref \w{8} lines 1-12 of fetch 1 call ago\]\nnew\n> \[lines 13-30\]$/m,
  )
  expect(again).toMatch(/^another\n> \[ref \w{8} lines \d+-\d+ of fetch/m)
  expect(bare).toMatch(/^bare\nnew\n> \[ref \w{8} lines 13-30 of fetch 3 calls ago/)
})

it('turn by turn, each turn begins with the one before', () => {
  const whole = compress(results)
  const history = createHistoryMemory(2)
  for (let end = 1; end <= results.length; end++) {
    expect(compress(results.slice(0, end), history)).toEqual(whole.slice(0, end))
  }
})
