import { bodyRules } from '../../dialects/lookup.ts'
import { memberOf, textOf } from '../../json/bytes/json-node.ts'
import { literalOf, type Replacement } from '../../json/bytes/splice.ts'
import { matchModel } from '../../pipeline/profile/match-model.ts'
import { EFFORTS, type Effort, type Steering } from '../../pipeline/profile/steering-section.ts'
import { headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import { roleOf } from './request-head.ts'

/**
 * Lowers the effort that the client asks for, if its model is listed. It never appears by itself,
 * and never rises. Returns `null` if it stays.
 */
export function steerEffort(
  scanned: ScannedRequest,
  steering: Steering,
  model: string | undefined,
): Replacement | null {
  const { body, request, route } = scanned
  if (matchModel(steering.effort_models, model) === undefined) return null
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
