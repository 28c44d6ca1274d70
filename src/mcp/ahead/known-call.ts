import type { Poll } from '../../ahead/polling.ts'
import { callKey, canonicalArguments } from '../../core/enrich/call-key.ts'
import type { ListedTool } from '../../core/enrich/eligibility.ts'
import { intentKeywords } from '../../core/enrich/intent.ts'
import type { FoundModel } from '../../core/enrich/models.ts'
import { hostsOf } from '../../core/enrich/url-arguments.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { parseJson } from '../../core/json/parse-json.ts'
import type { Value } from '../../core/json/value.ts'
import { EMPTY_OBJECT, member, objectMember, textMember } from '../members.ts'

/** What is known of a call before it is made. */
export interface KnownCall extends KnownArguments {
  readonly tool: ListedTool
  readonly found: FoundModel
  /** `callKey`; `null` if the call is not to be compared with others. */
  readonly key: string | null
  /** The agent's context, as `Enrichment` names it. */
  readonly context: string
  /** The agent's session; `null` if nothing names it. */
  readonly session: string | null
  readonly poll: Poll | null
}

/** What the arguments of a call state. */
export interface KnownArguments {
  /** `canonicalArguments`; `null` if the call is not to be compared with others. */
  readonly args: string | null
  readonly hosts: readonly string[]
  /** Words of the intent, or of the arguments. */
  readonly keywords: readonly string[]
  /** As the client sent them. */
  readonly bytes: JsonBytes
}

/** Larger arguments are not read on the main thread. */
const MAX_BYTES = 16_384
/** With another member, such as `task`, a call is not the same as without it. */
const PLAIN = new Set(['name', 'arguments', '_meta'])

/** The member of `_meta` in which a host may state what the call is for. */
const INTENT = 'haversack/intent'

/** @param params of `tools/call`, as the client sent them */
export function knownArguments(params: JsonBytes): KnownArguments {
  const given = member(params, 'arguments')
  const bytes = given ?? EMPTY_OBJECT
  const value = given !== null && params.length <= MAX_BYTES ? readValue(bytes) : undefined
  if (value === undefined) return { bytes, args: null, hosts: [], keywords: [] }
  return {
    bytes,
    args: isPlain(params) ? canonicalArguments(value) : null,
    hosts: hostsOf(value),
    keywords: intentKeywords(intentOf(params), value),
  }
}

/** What the call states of its purpose. */
function intentOf(params: JsonBytes): string | undefined {
  const meta = objectMember(params, '_meta')
  return (meta === null ? null : textMember(meta, INTENT)) ?? undefined
}

export function keyOf(server: string, tool: string, args: string | null): string | null {
  return args === null ? null : callKey(server, tool, args)
}

function readValue(json: JsonBytes): Value | undefined {
  const parsed = parseJson(json.toString())
  return parsed.ok ? parsed.value : undefined
}

function isPlain(params: JsonBytes): boolean {
  return Object.keys(JSON.parse(params.toString())).every(name => PLAIN.has(name))
}
