import { randomUUID } from 'node:crypto'
import { type ContentCoding, decodeBody } from '../../core/base/content-coding.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import type { ResultTerms } from '../../core/contract/request-terms.ts'
import { RETRIEVE_TOOL } from '../../core/contract/retrieve-tool.ts'
import { hiddenTurnKey, writeHiddenTurn } from '../../core/conversation/retrieve/hidden-turns.ts'
import type { HiddenTurn } from '../../core/conversation/retrieve/retrieving-answer.ts'
import type { RouteName } from '../../core/dialects/lookup.ts'
import { PACK_RESULT } from '../../core/operations/result-packer.ts'
import { notShownIn } from '../../core/parts/not-shown.ts'
import { callRetrieve } from '../../mcp/results/retrieve-tool.ts'
import type { Logger } from '../../observability/logger.ts'
import type { WorkerPool } from '../../pool/pool.ts'
import type { AnswerRounds } from '../../proxy/answer-rounds.ts'
import type { ReadableOriginals } from '../../store/originals.ts'
import type { Rewriting } from '../context.ts'
import { createRetrievingRounds } from './retrieving-rounds.ts'

export interface RetrieveCallNeeds {
  readonly pool: Pick<WorkerPool, 'run'>
  readonly rewriting: Pick<Rewriting, 'rewrites' | 'memory'>
  readonly originals: ReadableOriginals
  readonly logger: Pick<Logger, 'error'>
}

/** A request with our tool that was rewritten. */
export interface RetrievingCalls {
  readonly tenant: string
  readonly shape: RouteName
  readonly report: RewriteReport
  /** As it is sent. */
  readonly body: Uint8Array
  readonly coding: ContentCoding | null
  /** Whether it is kept, and can be sent again with more. */
  readonly isKept: boolean
}

/** A longer body is not read. */
const MAX_BODY_BYTES = 256 * 1024 * 1024
const NOTHING = new Uint8Array(0)
/** A fetched text is at most this long, in bytes. */
const MAX_TEXT_BYTES = 80_000

/** How the answer to a request with our tool is changed; `undefined` if it has none. */
export function answerRetrieveCalls(
  { tenant, shape: route, report, body, coding, isKept }: RetrievingCalls,
  { pool, rewriting, originals, logger }: RetrieveCallNeeds,
): AnswerRounds | undefined {
  const { redeeming: request, conversation } = report
  if (request === undefined || conversation === undefined) return undefined
  const rounds = createRetrievingRounds({
    route,
    request,
    body: isKept ? body : null,
    coding,
    async retrieve(args) {
      try {
        return await retrieve(args, { tenant, body, coding }, { pool, originals })
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
  { tenant, body, coding }: Pick<RetrievingCalls, 'tenant' | 'body' | 'coding'>,
  { pool, originals }: Pick<RetrieveCallNeeds, 'pool' | 'originals'>,
): Promise<string> {
  const json = asObject(args)
  if (json === null) return 'The arguments are not a JSON object.'
  const plain = () => (coding === null ? body : decodeBody(body, coding, MAX_BODY_BYTES))
  const retriever = { tenant, reader: null, hidden: () => notShownIn(plain() ?? NOTHING) }
  const outcome = await callRetrieve(json, retriever, originals, { maxBytes: MAX_TEXT_BYTES })
  if (outcome.kind !== 'result') return 'This could not be fetched.'
  return textOf(await packed(outcome.result, tenant, pool))
}

function textOf(result: Buffer): string {
  const { content } = JSON.parse(result.toString()) as {
    readonly content: readonly { readonly text: string }[]
  }
  return content.map(({ text }) => text).join('\n')
}

/** As any result that refers to nothing. What looks like a hint of ours is escaped. */
const PACKED: ResultTerms = {
  tool: RETRIEVE_TOOL,
  mode: 'lossless',
  response_budget: 'full',
  structured: 'keep',
}
/** Longest time of work on a text, in milliseconds. After that it is sent unchanged. */
const PACK_MS = 2_000

/**
 * An answer as the model gets it. Later requests have it again, and there a look-alike would be
 * escaped: so it must be escaped here, or their beginning would be another one.
 */
async function packed(
  result: Buffer,
  tenant: string,
  pool: RetrieveCallNeeds['pool'],
): Promise<Buffer> {
  const terms = { redeems: false, bypass: false, result: PACKED }
  const done = await pool.run({
    op: PACK_RESULT,
    tenant,
    media: 'json',
    accept: 'json',
    terms,
    body: result,
    retained: true,
    requestId: randomUUID(),
    limitMs: PACK_MS,
  })
  if (!done.ok || done.body.length === 0) return result
  return Buffer.from(done.body.buffer, done.body.byteOffset, done.body.length)
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
