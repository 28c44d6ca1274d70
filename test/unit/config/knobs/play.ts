import { CLEARING_TERMS, type ClearingTerms } from '../../../../src/core/base/clearing-terms.ts'
import { AppError } from '../../../../src/core/base/errors.ts'
import type { Done } from '../../../../src/core/contract/operation-result.ts'
import type { RequestTerms } from '../../../../src/core/contract/request-terms.ts'
import { createHistoryMemory } from '../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { compressOperation } from '../../../../src/core/operations/compress.ts'
import type { OperationContext } from '../../../../src/core/operations/operation.ts'
import { packResultOperation } from '../../../../src/core/operations/pack-result.ts'
import { OPERATIONS } from '../../../../src/core/operations/registry.ts'
import { rewriteRequestOperation } from '../../../../src/core/operations/rewrite-request.ts'
import { sessionKey } from '../../../../src/core/sessions/index/session-index.ts'
import { createBodyMemory } from '../../../../src/core/sessions/lines/memory-layout.ts'
import { commitBody } from '../../../../src/core/sessions/turn/remember.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../../../src/core/sessions/turn/shared-sessions.ts'
import { anySaving } from '../../../support/any-saving.ts'
import { counters } from '../../../support/vocabularies.ts'

/** The ways by which results come in. */
export const ENTRIES = [
  'encode',
  'dedup',
  'batch',
  'compress',
  'messages',
  'chat',
  'responses',
  'mcp',
] as const
export type Entry = (typeof ENTRIES)[number]

/** A result of a tool. */
export interface Result {
  readonly tool: string
  readonly args?: object
  readonly text: string
}

/** What comes in, and what its client asks for. */
export interface Play {
  readonly results: readonly Result[]
  readonly model?: string
  readonly mode?: 'elide' | 'trim'
  readonly budget?: number
  readonly wish?: 'compact'
  readonly contextTokens?: number
  /** Fields of a request to `/v1/encode` alone. */
  readonly fields?: object
  /** Members of a proxied request. */
  readonly head?: object
}

const RETRIEVE = 'haversack_retrieve'
const SESSION = 's'

/** Steps of clearing pay after few results. */
const SOON: ClearingTerms = { ...CLEARING_TERMS, keepNewest: 2, cachedRead: 1, cacheWrite: 1.01 }

/** A process with this configuration that has seen nothing yet. */
function process(pipeline: object) {
  const shared = createSharedSessions({ maxSessions: 4, maxEntries: 64, seeds: [1, 2] }, 1 << 19)
  const sessions = attachSessions(shared, { owner: MAIN_OWNER })
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 19 }))
  const rewrites = { tenant: '', memory, recalled: {}, history: createHistoryMemory(1) }
  const terms: RequestTerms = { redeems: true, bypass: false, clearing: SOON }
  const context: OperationContext = {
    counters,
    maxDepth: 100,
    maxDecodedChars: 1_000_000,
    keepsOriginals: true,
    pipeline: anySaving(pipeline),
    sessions: { ...sessions, tenant: '', nowMs: 0 },
    rewrites,
    terms,
  }
  const keep = (done: Pick<Done<unknown>, 'keep'>) => {
    for (const { ticket } of done.keep ?? []) {
      if (ticket !== undefined) commitBody(sessions, ticket, true)
    }
  }
  return { context, sessions, terms, keep }
}

/** What leaves for a play, as one text. */
export function leaves(entry: Entry, pipeline: object, play: Play): string {
  return PLAYERS[entry](process(pipeline), play)
}

type Process = ReturnType<typeof process>

const PLAYERS: Readonly<Record<Entry, (own: Process, play: Play) => string>> = {
  encode: (own, play) => eachByItself(own, play, request => ['encode', request]),
  batch: (own, play) =>
    eachByItself(own, play, request => ['batch', { jobs: [{ op: 'encode', ...request }] }]),
  dedup: (own, { results, model }) =>
    results
      .map((result, i) => {
        const request = { ...called(result, i), session: SESSION, ...(model && { model }) }
        const done = OPERATIONS['dedup']!.run(request, own.context) as Done<{ hint?: string }>
        own.keep(done)
        return done.answer.hint ?? ''
      })
      .join('\n'),
  compress(own, play) {
    const request = {
      messages: play.results.flatMap(chatMessages),
      config: { references: true },
      ...(play.model && { model: play.model }),
      ...(play.budget && { token_budget: play.budget }),
      ...(play.wish && { response_budget: play.wish }),
    }
    return JSON.stringify(compressOperation.run(request, own.context).answer.messages)
  },
  messages: (own, play) => {
    const messages = play.results.flatMap((result, i) => anthropicMessages(result, i))
    const tools = toolsOf(play).map(name => ({ name }))
    return proxied(own, 'anthropic_messages', play, { tools, messages: [OPENING, ...messages] })
  },
  chat: (own, play) => {
    const tools = toolsOf(play).map(name => ({ type: 'function', function: { name } }))
    const messages = [SYSTEM, OPENING, ...play.results.flatMap(chatMessages)]
    return proxied(own, 'openai_chat', play, { tools, messages })
  },
  responses: (own, play) => {
    const tools = toolsOf(play).map(name => ({ type: 'function', name }))
    const input = [OPENING, ...play.results.flatMap(responsesItems)]
    return proxied(own, 'openai_responses', play, { tools, input, store: false })
  },
  mcp(own, { results, mode, budget, wish }) {
    const key = sessionKey('', SESSION)
    return results
      .map(({ tool, args = {}, text }) => {
        const { sequence, epoch } = own.sessions.index.begin(key, { timeMs: 0 })
        const result = {
          tool,
          args: Buffer.from(JSON.stringify(args)),
          mode: mode ?? ('lossless' as const),
          structured: 'keep',
          place: { session: SESSION, sequence, epoch },
          ...(budget && { budget_tokens: budget }),
          ...(wish && { response_budget: wish }),
        } as const
        const body = Buffer.from(JSON.stringify({ content: [{ type: 'text', text }] }))
        const terms: RequestTerms = { ...own.terms, result }
        const context = { ...own.context, terms }
        return orCode(() => {
          const done = packResultOperation.run(body, context)
          own.keep(done)
          return Buffer.from(done.bytes ?? body).toString()
        })
      })
      .join('\n')
  },
}

function eachByItself(
  { context, keep }: Process,
  { results, model, mode, budget, wish, contextTokens, fields }: Play,
  ask: (request: object) => readonly [op: string, request: object],
): string {
  const outcomes = results.map((result, i) => {
    const request = {
      ...called(result, i),
      session: SESSION,
      ...(model && { model }),
      ...(mode && { mode }),
      ...(budget && { budget_tokens: budget }),
      ...(wish && { response_budget: wish }),
      ...(contextTokens && { context_tokens: contextTokens }),
      ...fields,
    }
    const [op, body] = ask(request)
    return orCode(() => {
      const done = OPERATIONS[op]!.run(body, context) as Done<object>
      keep(done)
      const answer = done.answer as { content?: string; results?: readonly object[] }
      return answer.content ?? JSON.stringify((answer.results ?? []).map(contentOf))
    })
  })
  return outcomes.join('\n')
}

/** What leaves, or the code of the refusal. */
function orCode(run: () => string): string {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code
  }
}

function contentOf(result: object): unknown {
  const { answer, content } = result as { answer?: { content?: string }; content?: string }
  return answer?.content ?? content ?? 'refused'
}

function called({ tool, args = {}, text }: Result, i: number) {
  return { tool, args, content: text, tool_call_id: `c${i}` }
}

const OPENING = { role: 'user', content: 'Go on.' }
const SYSTEM = { role: 'system', content: 'Be good.' }

function chatMessages({ tool, args = {}, text }: Result, i: number): object[] {
  const call = {
    id: `c${i}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: `c${i}`, content: text },
  ]
}

function anthropicMessages({ tool, args = {}, text }: Result, i: number): object[] {
  const use = { type: 'tool_use', id: `c${i}`, name: tool, input: args }
  const result = { type: 'tool_result', tool_use_id: `c${i}`, content: text }
  return [
    { role: 'assistant', content: [use] },
    { role: 'user', content: [result] },
  ]
}

function responsesItems({ tool, args = {}, text }: Result, i: number): object[] {
  return [
    { type: 'function_call', call_id: `c${i}`, name: tool, arguments: JSON.stringify(args) },
    { type: 'function_call_output', call_id: `c${i}`, output: text },
  ]
}

function toolsOf({ results, mode, wish, contextTokens }: Play): string[] {
  const isLeftOut = (mode ?? wish ?? contextTokens) !== undefined
  const tools = [...new Set(results.map(({ tool }) => tool)), ...(isLeftOut ? [RETRIEVE] : [])]
  return ['b', 'a', ...tools]
}

function proxied(
  { context, terms }: Process,
  route: 'anthropic_messages' | 'openai_chat' | 'openai_responses',
  { model = 'gpt-5', wish, head }: Play,
  rest: object,
): string {
  const body = Buffer.from(JSON.stringify({ model, ...head, ...rest }))
  const own = { ...terms, ...(wish && { responseBudget: wish }) }
  const { bytes } = rewriteRequestOperation(route).run(body, { ...context, terms: own })
  return Buffer.from(bytes ?? body).toString()
}
