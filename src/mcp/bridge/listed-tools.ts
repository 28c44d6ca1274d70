import { items, itemsOf, type JsonBytes, RANGE } from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { mirroredParams } from '../catalogue/mirrored-params.ts'
import { MODERN_ERRORS } from '../fronts/modern/request-rules.ts'
import type { Message } from '../json-rpc.ts'
import { EMPTY_OBJECT, member, textMember, withMember } from '../members.ts'

/** Pages of a list that are read. */
const MOST_PAGES = 100
/** Tools of a page. */
const MOST_TOOLS = 10_000

/** Whether a request was refused since its headers do not repeat what its body says. */
export function isHeaderMismatch(message: Message): boolean {
  if (message.kind !== 'response' || message.outcome.kind !== 'error') return false
  return member(message.outcome.error, 'code')?.toString() === String(MODERN_ERRORS.headerMismatch)
}

/**
 * Definitions of the tools with arguments that headers repeat, by name.
 * @param readPage gets the result of a page by its parameters; resolves to `null` if there is none
 * @param meta `_meta` of the requests
 */
export async function listMirroredTools(
  readPage: (params: JsonBytes) => Promise<JsonBytes | null>,
  meta: JsonBytes,
): Promise<ReadonlyMap<string, JsonBytes>> {
  const tools = new Map<string, JsonBytes>()
  const first = withMember(EMPTY_OBJECT, '_meta', meta) ?? EMPTY_OBJECT
  let params: JsonBytes | null = first
  for (let page = 0; page < MOST_PAGES && params !== null; page++) {
    const result: JsonBytes | null = await readPage(params)
    if (result === null) break
    for (const definition of definitionsOf(result)) {
      const name = textMember(definition, 'name')
      const isMirrored = (mirroredParams(definition) ?? []).length > 0
      if (name !== null && isMirrored) tools.set(name, Buffer.from(definition))
    }
    const cursor = member(result, 'nextCursor') ?? null
    params = cursor === null ? null : withMember(first, 'cursor', cursor)
  }
  return tools
}

function definitionsOf(result: JsonBytes): JsonBytes[] {
  const list = member(result, 'tools')
  if (list == null) return []
  const limits = { maxBytes: list.length, maxDepth: 10_000, maxValues: 2 * MOST_TOOLS }
  const root = readJson(list, items(RANGE), limits)
  return itemsOf(root ?? undefined).map(({ start, end }) => list.subarray(start, end))
}
