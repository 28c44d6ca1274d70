import {
  createHistoryMemory,
  type HistoryMemory,
} from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import type { OperationContext } from '../../../../../src/core/operations/operation.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { counters } from '../../../../support/vocabularies.ts'

export const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }

/** A process that remembers what it sent. */
export function contextWith(
  history: HistoryMemory | undefined,
  pipeline?: object,
): OperationContext {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 18 }))
  return {
    counters,
    maxDepth: 100,
    maxDecodedChars: 1_000_000,
    keepsOriginals: true,
    ...(pipeline === undefined ? {} : { pipeline: pipelineSchema.parse(pipeline) }),
    rewrites: { tenant: '', memory, recalled: {}, ...(history === undefined ? {} : { history }) },
  }
}

export interface Step {
  readonly tool?: string
  readonly args?: object
  readonly text: string
  readonly isError?: boolean
}

export function bodyOf(steps: readonly Step[], fields: object = {}): Uint8Array<ArrayBuffer> {
  const messages = steps.flatMap(({ tool = 'Read', args = {}, text, isError }, i) => {
    const result = { type: 'tool_result', tool_use_id: `t${i}`, content: text }
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name: tool, input: args }] },
      { role: 'user', content: [isError ? { ...result, is_error: true } : result] },
    ]
  })
  const opening = { role: 'user', content: 'Go on.' }
  return bytesOf(JSON.stringify({ model: 'gpt-5', messages: [opening, ...messages], ...fields }))
}

/** What the model gets for each result. */
export function sent(
  steps: readonly Step[],
  context: OperationContext,
  fields: object = {},
): string[] {
  const body = bodyOf(steps, fields)
  const { bytes, records } = rewriteRequest(body, 'anthropic_messages', LIMITS, context)
  for (const { position } of records) context.rewrites?.memory.confirm(position!)
  const { messages } = JSON.parse(Buffer.from(bytes).toString()) as {
    messages: { content: string | { type: string; content?: string }[] }[]
  }
  return messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.filter(({ type }) => type === 'tool_result').map(each => each.content ?? ''),
  )
}

export const remembering = (pipeline?: object) => contextWith(createHistoryMemory(2), pipeline)

export const read = (name: string, text: string): Step => ({
  args: { file_path: `/src/${name}` },
  text,
})
