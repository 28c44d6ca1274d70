import { readPipelineConfig } from '../src/config/pipeline.ts'
import type { CompressRequest } from '../src/core/contract/compress.ts'
import {
  compressMessages,
  tokensAfter,
} from '../src/core/conversation/rewrite/compress-messages.ts'
import { createHistoryMemory } from '../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../src/core/conversation/rewrite/rewrite-memory.ts'
import { createBodyMemory } from '../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../src/runtime/local-context.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { conversationsOf } from './turns/conversations.ts'

/**
 * npm run bench -- compress CORPUS
 *
 * What `POST /v1/compress` saves of recorded conversations: each text by itself, with references to
 * earlier results, and with levels from 20,000 tokens of context on.
 */
const options = readOptions({ corpus: REQUIRED })
const usual = readPipelineConfig({ data_dir: '/nowhere' })
const local = {
  ...createLocalContext(),
  keepsOriginals: true,
  terms: { redeems: true, bypass: false },
}
const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
const conversations = conversationsOf(options.corpus).map(({ steps }) =>
  steps.flatMap(({ tool, args, text, isError }, i) => {
    const id = `call_${i}`
    const result = { type: 'tool_result', tool_use_id: id, content: text }
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input: args }] },
      { role: 'user', content: [isError ? { ...result, is_error: true } : result] },
    ]
  }),
)

type Pressure = (typeof usual)['views']['pressure']

function measure(name: string, references: boolean, pressure: Pressure): string[] {
  const pipeline = { ...usual, views: { ...usual.views, pressure } }
  const all = conversations.flatMap(messages => {
    const history = createHistoryMemory(1)
    const context = { ...local, pipeline, rewrites: { tenant: '', memory, recalled: {}, history } }
    const request: CompressRequest = { messages, config: { references } }
    return compressMessages(request, context).payloads
  })
  const before = all.reduce((sum, { tokens }) => sum + tokens, 0)
  const elided = all.filter(({ rewritten }) => rewritten?.answer.lossless === false).length
  return [
    name,
    String(all.length),
    String(before),
    `${(100 - (100 * tokensAfter(all)) / before).toFixed(1)} %`,
    `${((100 * elided) / all.length).toFixed(1)} %`,
  ]
}

const rows = [
  measure('each by itself', false, []),
  measure('references', true, []),
  measure('and `standard` from 20,000', true, [{ from_tokens: 20_000, level: 'standard' }]),
  measure('and `compact` from 20,000', true, [{ from_tokens: 20_000, level: 'compact' }]),
]
const header = ['texts', 'of', 'tokens', 'saved', 'with parts left out']
process.stdout.write(`${JSON.stringify(machine())}\n\n${markdownTable(header, rows)}\n`)
