import { readPipelineConfig } from '../../src/config/pipeline.ts'
import type { CompressRequest } from '../../src/core/contract/compress.ts'
import {
  compressMessages,
  tokensAfter,
} from '../../src/core/conversation/rewrite/compress-messages.ts'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import type { PipelineConfig } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { READING_LEVELS } from '../../src/core/reading/constructs.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { conversationsOf } from '../turns/conversations.ts'

/** Recorded conversations, cut where the context was compacted, as `/v1/compress` writes them. */
export function conversations(corpus: string): string {
  const usual = readPipelineConfig({ data_dir: '/nowhere' })
  const terms = { redeems: true, bypass: false }
  const local = { ...createLocalContext(), keepsOriginals: true, terms }
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  const recorded = conversationsOf(corpus).map(({ steps }) =>
    steps.flatMap(({ tool, args, text, isError }, i) => {
      const id = `call_${i}`
      const result = { type: 'tool_result', tool_use_id: id, content: text }
      return [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input: args }] },
        { role: 'user', content: [isError ? { ...result, is_error: true } : result] },
      ]
    }),
  )

  function measure(name: string, references: boolean, pipeline: PipelineConfig) {
    const all = recorded.flatMap(messages => {
      const history = createHistoryMemory(1)
      const rewrites = { tenant: '', memory, recalled: {}, history }
      const request: CompressRequest = { messages, config: { references } }
      return compressMessages(request, { ...local, pipeline, rewrites }).payloads
    })
    const before = all.reduce((sum, { tokens }) => sum + tokens, 0)
    const cut = all.filter(({ rewritten }) => rewritten?.answer.lossless === false).length
    const shares = [1 - tokensAfter(all) / before, cut / all.length]
    return [name, all.length, before, ...shares.map(share => `${(100 * share).toFixed(1)} %`)]
  }

  const from20k = (level: 'standard' | 'compact'): PipelineConfig => {
    const pressure = [{ from_tokens: 20_000, level }]
    return { ...usual, views: { ...usual.views, pressure } }
  }
  return markdownTable(
    ['texts', 'of', 'tokens', 'saved', 'with parts left out'],
    [
      measure('each by itself', false, usual),
      measure('references', true, usual),
      ...READING_LEVELS.map(level =>
        measure(`references, \`${level}\` reading`, true, {
          ...usual,
          reading: { ...usual.reading, level },
        }),
      ),
      measure('references, and `standard` views from 20,000', true, from20k('standard')),
      measure('references, and `compact` views from 20,000', true, from20k('compact')),
    ],
  )
}
