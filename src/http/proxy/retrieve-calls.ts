import type { RewriteReport } from '../../core/contract/operation-result.ts'
import type { RouteName } from '../../core/conversation/parse/scan-request.ts'
import { hiddenTurnKey, writeHiddenTurn } from '../../core/conversation/retrieve/hidden-turns.ts'
import type { HiddenTurn } from '../../core/conversation/retrieve/retrieving-answer.ts'
import { callRetrieve } from '../../mcp/retrieve-tool.ts'
import type { Logger } from '../../observability/logger.ts'
import type { AnswerRounds } from '../../proxy/answer-rounds.ts'
import type { Originals } from '../../store/originals.ts'
import type { Rewriting } from '../context.ts'
import { createRetrievingRounds } from './retrieving-rounds.ts'

export interface RetrieveCallNeeds {
  readonly rewriting: Pick<Rewriting, 'rewrites' | 'memory'>
  readonly originals: Pick<Originals, 'fetch' | 'fetchPart'>
  readonly logger: Pick<Logger, 'error'>
}

/** A request with our tool that was rewritten. */
export interface RetrievingCalls {
  readonly tenant: string
  readonly shape: RouteName
  readonly report: RewriteReport
  /** As it is sent. */
  readonly body: Uint8Array
  /** Whether it is kept, and can be sent again with more. */
  readonly isKept: boolean
}

/** A fetched text is at most this long, in bytes. */
const MAX_TEXT_BYTES = 80_000

/** How the answer to a request with our tool is changed; `undefined` if it has none. */
export function answerRetrieveCalls(
  { tenant, shape: route, report, body, isKept }: RetrievingCalls,
  { rewriting, originals, logger }: RetrieveCallNeeds,
): AnswerRounds | undefined {
  const { redeeming: request, conversation } = report
  if (request === undefined || conversation === undefined) return undefined
  const rounds = createRetrievingRounds({
    route,
    request,
    body: isKept ? body : null,
    async retrieve(args) {
      try {
        return await retrieve(args, tenant, originals)
      } catch (bug) {
        logger.error({ err: bug }, 'unexpected error')
        return 'This could not be fetched: the service failed.'
      }
    },
    async record(hidden) {
      try {
        await record(hidden)
      } catch (bug) {
        logger.error({ err: bug }, 'unexpected error')
      }
    },
  })
  return rounds ?? undefined

  async function record(hidden: HiddenTurn): Promise<void> {
    const { rewrites, memory } = rewriting
    const { anchor } = hidden
    const index = request?.messages ?? 0
    const place = { tenant, route, conversation: conversation ?? '', index, anchor }
    const key = hiddenTurnKey(place)
    const bytes = writeHiddenTurn(hidden)
    const position = memory.place(key, bytes, true)
    if (position !== null) memory.confirm(position)
    await rewrites.record(tenant, [{ key, bytes, position, replaces: true }])
  }
}

async function retrieve(
  args: string,
  tenant: string,
  originals: RetrieveCallNeeds['originals'],
): Promise<string> {
  const json = asObject(args)
  if (json === null) return 'The arguments are not a JSON object.'
  const limits = { maxBytes: MAX_TEXT_BYTES }
  const outcome = await callRetrieve(json, { tenant, reader: null }, originals, limits)
  if (outcome.kind !== 'result') return 'This could not be fetched.'
  const { content } = JSON.parse(outcome.result.toString()) as {
    readonly content: readonly { readonly text: string }[]
  }
  return content.map(({ text }) => text).join('\n')
}

function asObject(args: string): Buffer | null {
  try {
    const value: unknown = JSON.parse(args)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? Buffer.from(args) : null
  } catch {
    return null
  }
}
