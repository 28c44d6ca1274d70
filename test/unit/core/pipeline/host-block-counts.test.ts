import { expect, it } from 'vitest'
import { rewriteRequest } from '../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { compressOperation } from '../../../../src/core/operations/compress.ts'
import { encodeContent } from '../../../../src/core/pipeline/encode-content.ts'
import { counters } from '../../../support/vocabularies.ts'
import { remembering } from '../conversation/rewrite/steps.ts'

const BLOCK = '<system-reminder>\nLook at the file twice.\n</system-reminder>'
const RESULT = `one line\n${BLOCK}\nanother\n${BLOCK}`
const tokens = 2 * counters.get('o200k_base').count(BLOCK)

const context = remembering()
const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }

const messages = (...contents: string[]) =>
  contents.flatMap((content, i) => [
    {
      role: 'assistant',
      tool_calls: [{ id: `c${i}`, function: { name: 'Read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `c${i}`, content },
  ])

it('what a host says in a result is counted, and stays', () => {
  const { answer, reports } = encodeContent({ content: RESULT, model: 'gpt-5' }, context)
  expect(reports).toMatchObject([{ host_blocks: { blocks: 2, tokens } }])
  expect(answer.content).toBe(RESULT)
  const [other] = encodeContent({ content: 'one line' }, context).reports
  expect(other).not.toHaveProperty('host_blocks')
})

it('a proxied conversation counts it once, in the turn in which it came', () => {
  const turn = (...contents: string[]) => {
    const body = Buffer.from(JSON.stringify({ model: 'gpt-5', messages: messages(...contents) }))
    const { bytes, report, records } = rewriteRequest(body, 'openai_chat', LIMITS, context)
    for (const { position } of records) context.rewrites?.memory.confirm(position!)
    expect(bytes).toBe(body)
    return report.host_blocks
  }
  expect(turn('one', RESULT)).toEqual({ blocks: 2, tokens })
  expect(turn('one', RESULT, 'two')).toBeUndefined()
  expect(turn('one', RESULT, 'two', BLOCK)).toEqual({ blocks: 1, tokens: tokens / 2 })
})

it('a conversation that is compressed counts it where it is new', () => {
  const blocksOf = (...contents: string[]) => {
    const request = { messages: messages(...contents), model: 'gpt-5' }
    const { reports } = compressOperation.run(request, context)
    return reports.map(({ host_blocks }) => host_blocks)
  }
  expect(blocksOf('one', RESULT)).toEqual([undefined, { blocks: 2, tokens }])
  expect(blocksOf(RESULT, 'two')).toEqual([undefined, undefined])
})
