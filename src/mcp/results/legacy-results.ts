import {
  type JsonBytes,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { OPEN_BRACE } from '../../core/json/char-codes.ts'
import { member, withMember } from '../members.ts'
import type { CallEnd } from '../upstream/connection.ts'

/**
 * The end of a tool's call for a client of a revision before 2026-07-28. Structured values are
 * objects there: another value becomes the member `result` of one.
 */
export function legacyEnd(end: CallEnd): CallEnd {
  if (end.kind !== 'answered' || end.outcome.kind === 'error') return end
  const { result } = end.outcome
  const value = member(result, 'structuredContent')
  if (value == null || value[0] === OPEN_BRACE) return end
  const object = Buffer.concat([Buffer.from('{"result":'), value, Buffer.from('}')])
  const wrapped = withMember(result, 'structuredContent', object) ?? result
  return { kind: 'answered', outcome: { kind: 'result', result: wrapped } }
}

const TYPE = members({ outputSchema: members({ type: RANGE }) })

/** Whether a tool's `outputSchema` describes no objects, which earlier revisions forbid. */
export function describesOtherValues(definition: JsonBytes): boolean {
  const limits = { maxBytes: definition.length, maxDepth: 10_000, maxValues: 4 }
  const root = readJson(definition, TYPE, limits) ?? undefined
  const schema = memberOf(root, 'outputSchema')
  return schema !== undefined && textOf(definition, memberOf(schema, 'type')) !== 'object'
}
