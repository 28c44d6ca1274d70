import type { RouteName } from '../../src/core/conversation/parse/scan-request.ts'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import { createTurnMemories } from '../../src/core/conversation/rewrite/turn-memory.ts'
import { ROUTE_NAMES } from '../../src/core/operations/rewrite-op.ts'
import { rewriteRequestOperation } from '../../src/core/operations/rewrite-request.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { turnBody } from '../../test/support/turns/bodies.ts'
import { type Conversation, conversationsOf, turnsOf } from '../turns/conversations.ts'
import { createSum, type Sum } from './sum.ts'

const MOST_TURNS = 12
const MEMORY_BYTES = 16 * 1024 * 1024
/** A retrieving tool is defined in each second conversation, so that markers may be sent. */
const RETRIEVING_EACH = 2
const RETRIEVING_TOOL = 'headroom_retrieve'

/** The model of each shape of requests, and of how many conversations one is played. */
const SHAPES: Readonly<Record<RouteName, { readonly model: string; readonly each: number }>> = {
  anthropic_messages: { model: 'claude-sonnet-4-5', each: 1 },
  openai_chat: { model: 'gpt-5', each: 4 },
  openai_responses: { model: 'gpt-5', each: 4 },
  gemini_generate: { model: 'gemini-2.5-pro', each: 4 },
  bedrock_converse: { model: 'anthropic.claude-sonnet-4-5', each: 4 },
}

/** The rewritten bodies, records and reports of all recorded conversations, turn by turn. */
export async function* rewrittenTurns(corpus: string): AsyncGenerator<readonly [string, string]> {
  const conversations = conversationsOf(corpus)
  const context = createLocalContext()
  for (const route of ROUTE_NAMES) {
    const { model, each } = SHAPES[route]
    const sum = createSum()
    for (const [index, conversation] of conversations.entries()) {
      if (index % each !== 0) continue
      const own = [...new Set(conversation.steps.map(({ tool }) => tool))]
      const tools = index % RETRIEVING_EACH === 0 ? [...own, RETRIEVING_TOOL] : own
      play(conversation, route, { terms: { model, tools }, context, sum })
    }
    yield [route, sum.hex()]
  }
}

interface Player {
  readonly terms: { readonly model: string; readonly tools: readonly string[] }
  readonly context: ReturnType<typeof createLocalContext>
  readonly sum: Sum
}

function play(conversation: Conversation, route: RouteName, { terms, context, sum }: Player): void {
  const operation = rewriteRequestOperation(route)
  const memory = attachRewriteMemory(createBodyMemory({ bytes: MEMORY_BYTES }))
  const rewrites = {
    tenant: 'guard',
    memory,
    turns: createTurnMemories(1).of('guard'),
    history: createHistoryMemory(1),
  }
  const recalled: Record<string, Uint8Array> = {}
  let before = 0
  for (const end of turnsOf(conversation, MOST_TURNS)) {
    const bytes = turnBody(route, conversation.steps, { end, before }, terms)
    const answer = operation.run(bytes, {
      ...context,
      keepsOriginals: true,
      rewrites: { ...rewrites, recalled },
      terms: { redeems: true, bypass: false },
    })
    for (const { key, bytes: record } of answer.records ?? []) recalled[key] = record
    sum.add(answer.bytes ?? 'unchanged')
    sum.add(JSON.stringify([answer.records?.map(({ key }) => key), answer.markers]))
    sum.add(JSON.stringify(answer.reports.map(({ rewrite }) => rewrite)))
    before = end
  }
}
