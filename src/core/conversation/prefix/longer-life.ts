import { hash } from 'node:crypto'
import { memberOf } from '../../json/bytes/json-node.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import type { ByteRange, ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { HOUR, isKnownHost } from './place-breakpoint.ts'
import { breakpointsIn } from './request-head.ts'

/** An hour from a conversation's first request on, or from cold writes on within a budget. */
export type LongerLife = 'hour' | 'guarded'

/** No model caches a shorter request, at about four bytes a token. */
const LEAST_BYTES = 16_384
const DIGITS_32 = 8

/**
 * The longer life that a conversation begins with. None while clearing is in force: it lives from
 * caches that are forgotten.
 * @param ownTool whether the proxy answers its calls for originals
 */
export function longerLife(
  scanned: ScannedRequest,
  ownTool: boolean,
  context: ConversationContext,
): LongerLife | undefined {
  const { terms, pipeline = DEFAULT_PIPELINE } = context
  const { life, budget } = pipeline.cache_life
  if (life === 'client' || terms?.paysByToken !== true || !isKnownHost(scanned, context)) return
  if (namesLife(scanned) || clears(scanned, ownTool, context)) return undefined
  if (life === '1h') return 'hour'
  // Without an account of what came of it, nothing is decided by itself.
  const kinds = terms.hourKinds
  if (kinds === undefined) return undefined
  // A budget is kept by those only that begin with the usual life.
  if (budget > 0) return 'guarded'
  return kinds.includes(kindOf(scanned)) ? 'hour' : undefined
}

/** The kind of agent that sent a request: a digest of the names of its tools. */
export function kindOf({ tools }: Pick<ScannedRequest, 'tools'>): number {
  const digest = hash('sha256', JSON.stringify([...tools].sort()), 'hex')
  return Number.parseInt(digest.slice(0, DIGITS_32), 16)
}

/** Whether old results of a conversation are cleared. */
export function clears(
  { tools }: Pick<ScannedRequest, 'tools'>,
  ownTool: boolean,
  { terms, pipeline = DEFAULT_PIPELINE }: ConversationContext,
): boolean {
  const { enabled } = pipeline.clearing
  if (enabled !== true) return enabled === 'auto' && ownTool
  const { redeem_tools: names } = pipeline.elision
  return terms?.redeems === true && (ownTool || tools.some(tool => isRetrieving(tool, names)))
}

function breakpointsOf({ request, breakpoints }: ScannedRequest): readonly ByteRange[] {
  const top = memberOf(request, 'cache_control')
  return [
    ...breakpointsIn(memberOf(request, 'tools')),
    ...breakpointsIn(memberOf(request, 'system')),
    ...breakpoints,
    ...(top === undefined ? [] : [{ start: top.keyStart, end: top.end }]),
  ]
}

/** Whether a client says how long its cache shall live. */
export function namesLife(scanned: ScannedRequest): boolean {
  const { body } = scanned
  return breakpointsOf(scanned).some(({ start, end }) =>
    body.subarray(start, end).includes('"ttl"'),
  )
}

/** A breakpoint of which nothing but its type is said. */
const PLAIN = /^"cache_control"\s*:\s*\{\s*"type"\s*:\s*"ephemeral"\s*\}$/
const NAME = '"cache_control"'

/**
 * Gives every breakpoint of a request an hour, so that no longer life follows a shorter one.
 * Returns `null` if the request stays: it is short, or one of them is not plain.
 */
export function lengthen(scanned: ScannedRequest): readonly Replacement[] | null {
  const { body } = scanned
  if (body.length < LEAST_BYTES) return null
  const all = breakpointsOf(scanned)
  const isPlain = ({ start, end }: ByteRange) => PLAIN.test(body.toString('latin1', start, end))
  if (!all.every(isPlain) || countOf(body, NAME) !== all.length) return null
  const literal = Buffer.from(`${HOUR}}`)
  return all.map(({ end }) => ({ start: end - 1, end, literal }))
}

function countOf(body: Buffer, text: string): number {
  let count = 0
  for (let at = body.indexOf(text); at !== -1; at = body.indexOf(text, at + text.length)) count++
  return count
}
