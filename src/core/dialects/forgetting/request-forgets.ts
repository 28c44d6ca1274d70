import type { JsonBytes, JsonNode } from '../../json/bytes/json-node.ts'
import { parseJson } from '../../json/parse-json.ts'
import { KNOWN_NAMES, letsForget } from './lets-forget.ts'

/** Larger members hold data. They are not parsed. */
const MAX_SETTING_BYTES = 64 * 1024

/** Whether settings of a request let its provider leave out earlier results by itself. */
export function requestForgets(body: JsonBytes, { others }: Pick<JsonNode, 'others'>): boolean {
  return (others ?? []).some(member => memberForgets(body, member))
}

/** The same of one member, or of one part of a message that has it. */
function memberForgets(body: JsonBytes, { key, start, end }: JsonNode): boolean {
  if (end - start > MAX_SETTING_BYTES) {
    const bytes = body.subarray(start, end)
    return letsForget(key, true) || KNOWN_NAMES.some(name => bytes.includes(`"${name}"`))
  }
  const parsed = parseJson(body.toString('utf8', start, end))
  // A lone surrogate or deep nesting is not read, and then nothing may depend on it.
  return !parsed.ok || letsForget(key, parsed.value)
}
