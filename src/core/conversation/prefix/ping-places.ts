import type { PingPlaces } from '../../contract/operation-result.ts'
import { type JsonNode, memberOf, textOf } from '../../json/bytes/json-node.ts'
import { type Replacement, splice } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import type { LeversInForce } from './levers.ts'
import { clears, namesLife } from './longer-life.ts'
import { isOwnApi } from './place-breakpoint.ts'

/** Shorter requests have fewer tokens than a ping is worth, at about four bytes each. */
const LEAST_BYTES = 100_000
/** What the vendor refuses without output. */
const REFUSED = { thinking: '"enabled"', output_config: '"format"' } as const

/**
 * What a ping of a request needs: the same request that asks for no token, which the vendor
 * documents as a way to warm its cache. Returns `undefined` if none may be sent.
 * @param changes what is changed in the request, in order
 */
export function pingPlaces(
  scanned: ScannedRequest,
  levers: LeversInForce | null,
  changes: readonly Replacement[],
  context: ConversationContext,
): PingPlaces | undefined {
  const { body, request } = scanned
  const { terms, pipeline = DEFAULT_PIPELINE } = context
  const { pings: most, budget } = pipeline.cache_life
  if (most === 0 || terms?.paysByToken !== true || terms.hourKinds === undefined) return undefined
  if (!isOwnApi(scanned, context) || body.length < LEAST_BYTES) return undefined
  if (levers?.isLong === true || namesLife(scanned)) return undefined
  if (clears(scanned, levers?.ownTool !== undefined, context)) return undefined
  const [maxTokens, ...more] = request.others?.filter(({ key }) => key === 'max_tokens') ?? []
  if (maxTokens === undefined || more.length > 0 || !mayAskForNothing(scanned)) return undefined
  const stream = memberOf(request, 'stream')
  const moved = ({ start, end }: JsonNode) => {
    const by = changes
      .filter(change => change.end <= start)
      .reduce((sum, change) => sum + change.literal.length - (change.end - change.start), 0)
    return { start: start + by, end: end + by }
  }
  return { most, budget, maxTokens: moved(maxTokens), ...(stream && { stream: moved(stream) }) }
}

function mayAskForNothing({ body, request }: ScannedRequest): boolean {
  const all = [...(request.members ?? []), ...(request.others ?? [])]
  const has = (key: string, text: string) =>
    all.some(each => each.key === key && body.subarray(each.start, each.end).includes(text))
  if (Object.entries(REFUSED).some(([key, text]) => has(key, text))) return false
  const choice = textOf(body, memberOf(memberOf(request, 'tool_choice'), 'type')) ?? 'auto'
  const isForm = all.some(({ key }) => key === 'output_format')
  return !isForm && (choice === 'auto' || choice === 'none')
}

const ASKS_FOR_NOTHING = Buffer.from('0')
const NOT_STREAMED = Buffer.from('false')

/** The body of a ping. */
export function pingBody(body: Uint8Array, { maxTokens, stream }: PingPlaces): Uint8Array {
  const changes = [
    { ...maxTokens, literal: ASKS_FOR_NOTHING },
    ...(stream === undefined ? [] : [{ ...stream, literal: NOT_STREAMED }]),
  ]
  return splice(
    body,
    changes.sort((a, b) => a.start - b.start),
  )
}
