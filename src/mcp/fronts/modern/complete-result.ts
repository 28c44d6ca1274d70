import {
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../../core/json/bytes/json-tokens.ts'
import { readJson } from '../../../core/json/bytes/read-json.ts'
import { OPEN_BRACE } from '../../../core/json/char-codes.ts'
import type { CacheHint } from '../../catalogue/cache-hints.ts'
import { META } from '../../upstream/envelope.ts'

const RESULT = members({
  resultType: RANGE,
  ttlMs: RANGE,
  cacheScope: RANGE,
  _meta: members({ [META.serverInfo]: RANGE }),
})

/**
 * The result with what every result of the revision 2026-07-28 has. What a modern server has
 * written stays: a result with a type passes unchanged, but for the members of `hint`.
 * @param result a JSON object
 * @param info our name and version: a JSON object
 * @param hint of a result that clients may keep; else `null`
 */
export function completeResult(
  result: JsonBytes,
  info: JsonBytes,
  hint: CacheHint | null,
): JsonBytes {
  const limits = { maxBytes: result.length, maxDepth: 10_000, maxValues: 8 }
  const root = readJson(result, RESULT, limits) ?? undefined
  const lacks = (name: string) => memberOf(root, name) === undefined
  const type = textOf(result, memberOf(root, 'resultType'))
  const isOurs = lacks('resultType')
  const added = [
    ...(isOurs ? ['"resultType":"complete"'] : []),
    ...(hint !== null && lacks('ttlMs') && isKept(type) ? [`"ttlMs":${hint.ttlMs}`] : []),
    ...(hint !== null && lacks('cacheScope') && isKept(type)
      ? [`"cacheScope":"${hint.cacheScope}"`]
      : []),
  ]
  if (!isOurs) return withMembers(result, result.length - 1, added)
  const name = `"${META.serverInfo}":${info}`
  const meta = memberOf(root, '_meta')
  if (meta === undefined) {
    return withMembers(result, result.length - 1, [...added, `"_meta":{${name}}`])
  }
  const typed = withMembers(result, result.length - 1, added)
  const isNamed = memberOf(meta, META.serverInfo) !== undefined || !isObject(result, meta)
  return isNamed ? typed : withMembers(typed, meta.end - 1, [name])
}

/** What asks for input is never kept. */
function isKept(type: string | undefined): boolean {
  return type === undefined || type === 'complete'
}

function isObject(bytes: JsonBytes, { start }: JsonNode): boolean {
  return bytes[start] === OPEN_BRACE
}

/**
 * @param closeAt where an object's closing brace is
 * @param added members as JSON
 */
function withMembers(bytes: JsonBytes, closeAt: number, added: readonly string[]): JsonBytes {
  if (added.length === 0) return bytes
  let before = closeAt - 1
  while (skipSpace(bytes, before) === closeAt) before--
  const comma = bytes[before] === OPEN_BRACE ? '' : ','
  return Buffer.concat([
    bytes.subarray(0, closeAt),
    Buffer.from(comma + added.join(',')),
    bytes.subarray(closeAt),
  ])
}
