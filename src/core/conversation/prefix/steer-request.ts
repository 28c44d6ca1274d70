import type { FreshRecord } from '../../contract/operation-result.ts'
import { bodyRules } from '../../dialects/lookup.ts'
import { memberOf, textOf } from '../../json/bytes/json-node.ts'
import { literalOf, type Replacement } from '../../json/bytes/splice.ts'
import { EFFORTS, type Effort, type Steering } from '../../pipeline/profile/steering-section.ts'
import { headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { type Deferred, deferTools } from './defer-tools.ts'
import { isNew, type LeversInForce, toolList } from './levers.ts'
import { lengthen } from './longer-life.ts'
import { normaliseTools } from './normal-tools.ts'
import { HOUR, mayPlace, placeBreakpoint } from './place-breakpoint.ts'
import { roleOf } from './request-head.ts'
import { mayRetain, retain } from './retention.ts'
import { steerVerbosity } from './steer-verbosity.ts'

/** A lever, as metrics name it. */
export type LeverName =
  | 'verbosity'
  | 'effort'
  | 'tools'
  | 'redeem'
  | 'defer'
  | 'place'
  | 'life'
  | 'retention'

/** What is changed in a request besides its results. */
export interface Steered {
  /** In the order of the body. */
  readonly replacements: readonly Replacement[]
  readonly records: readonly FreshRecord[]
  /** Levers that changed something. */
  readonly levers: readonly LeverName[]
  /** What deferred tools change; absent: none are deferred. */
  readonly deferred?: Deferred
}

const UNTOUCHED: Steered = { replacements: [], records: [], levers: [] }

/**
 * Pulls the levers of a conversation: the block for brevity, the effort of reasoning, the order of
 * tools. What they change depends on the request and the conversation's record alone. A cache
 * breakpoint and its life, which are no part of the cached prompt, also depend on pauses.
 */
export function steerRequest(
  scanned: ScannedRequest,
  inForce: LeversInForce | null,
  context: ConversationContext,
): Steered {
  if (inForce === null) return UNTOUCHED
  const { steering, normalise, ownTool, defer, place, pace, isLong, records } = inForce
  const verbosity = steering?.verbosity ?? 'balanced'
  const effort = steering === undefined ? null : steerEffort(scanned, steering)
  const longer = isLong ? lengthen(scanned) : null
  const ttl = longer === null ? '' : HOUR
  const deferred = defer === undefined ? null : deferTools(scanned, defer, context)
  const { edits = [], block = '' } = deferred ?? {}
  const tools = normalise === true ? normaliseTools(scanned, inForce, { ttl, edits }) : null
  const places = place === true && mayPlace(scanned, context)
  const placed = places ? placeBreakpoint(scanned, isNew(scanned), pace!, ttl) : null
  const added = ownTool === undefined ? null : addTool(scanned, ownTool, tools)
  const done: Readonly<Record<LeverName, readonly Replacement[]>> = {
    verbosity: steerVerbosity(scanned, verbosity, block),
    effort: effort === null ? [] : [effort],
    tools: tools === null || added !== null ? [] : [tools],
    redeem: added === null ? [] : [added],
    // In a list that another lever writes they are part of it.
    defer: tools === null ? edits : [],
    place: placed === null ? [] : [placed],
    life: longer ?? [],
    retention: inForce.retention === true && mayRetain(scanned, context) ? [retain(scanned)] : [],
  }
  const isPulled = (lever: LeverName) => {
    if (lever === 'defer') return deferred !== null
    if (lever === 'verbosity' && verbosity === 'balanced') return false
    return done[lever].length > 0 || (lever === 'life' && longer !== null && placed !== null)
  }
  return {
    replacements: Object.values(done)
      .flat()
      .sort((a, b) => a.start - b.start),
    records,
    levers: (Object.keys(done) as LeverName[]).filter(isPulled),
    ...(deferred && { deferred }),
  }
}

/** Adds our tool as the last one, after the tools as another lever writes them. */
function addTool(
  scanned: ScannedRequest,
  definition: string,
  tools: Replacement | null,
): Replacement | null {
  const list = toolList(scanned)
  if (list === undefined) return null
  const end = Buffer.from(`,${definition}]`)
  if (tools === null) return { start: list.end - 1, end: list.end, literal: end }
  return { ...tools, literal: Buffer.concat([tools.literal.subarray(0, -1), end]) }
}

/**
 * Lowers the effort that the client asks for. It never appears by itself, and never rises. Returns
 * `null` if it stays.
 */
function steerEffort(scanned: ScannedRequest, steering: Steering): Replacement | null {
  const { body, request, route } = scanned
  const { effort = [], unknownEfforts } = headRulesOf(route) ?? {}
  let node: ReturnType<typeof memberOf> = request
  for (const key of effort) node = node?.doubled ? undefined : memberOf(node, key)
  const asked = textOf(body, node)
  const most = mostOf(scanned, steering)
  if (node === undefined || asked === undefined || most === undefined) return null
  const isLower = EFFORTS.indexOf(most) < EFFORTS.indexOf(asked as Effort)
  if (!isLower || unknownEfforts?.includes(most)) return null
  return { start: node.start, end: node.end, literal: literalOf(most) }
}

function mostOf(scanned: ScannedRequest, steering: Steering): Effort | undefined {
  const { effort, mechanical_effort: mechanical, base_effort: base } = steering
  if (mechanical === undefined) return effort
  return isMechanical(scanned) ? mechanical : base
}

/**
 * Whether a turn only continues after results: the last messages are nothing else, and none of them
 * is an error.
 */
function isMechanical(scanned: ScannedRequest): boolean {
  const { results, forPrograms, messages } = scanned
  const places = new Set([...results, ...forPrograms].map(({ message }) => message))
  let last = messages.length - 1
  if (!places.has(last) || hasOthers(scanned, last)) return false
  while (places.has(last - 1) && roleOf(scanned, last) !== 'assistant') last--
  return !results.some(({ message, isError }) => message >= last && isError)
}

/** Whether a message has blocks that are no results. */
function hasOthers({ body, route, read }: ScannedRequest, message: number): boolean {
  if (bodyRules(route).hasBlocks !== true) return false
  const blocks = memberOf(read[message], 'content')?.items ?? []
  return blocks.some(block => textOf(body, memberOf(block, 'type')) !== 'tool_result')
}
