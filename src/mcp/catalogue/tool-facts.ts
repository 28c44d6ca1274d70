import type { ListedTool, ToolAnnotations } from '../../core/enrich/eligibility.ts'
import {
  type JsonBytes,
  memberOf,
  members,
  parseAt,
  RANGE,
} from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import type { PublicEntry } from './catalogue.ts'

/** What a tool's definition states that decides how its calls are treated. */
export interface ToolFacts {
  readonly hasOutputSchema: boolean
  /** Whether the client draws a user interface from the structured value. */
  readonly hasUi: boolean
  /** Only what its server says: the protocol's defaults do not count. */
  readonly annotations: ToolAnnotations
  /** Whether its calls may be tasks. */
  readonly isInteractive: boolean
  /** JSON; `null` if it is too large to be checked for each call. */
  readonly inputSchema: JsonBytes | null
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
const TOOL = members({
  annotations: members(Object.fromEntries(HINTS.map(name => [name, RANGE]))),
  execution: members({ taskSupport: RANGE }),
  inputSchema: RANGE,
  outputSchema: RANGE,
  _meta: members({ ui: RANGE }),
})

/** Larger schemas accept nothing. */
const MAX_SCHEMA_BYTES = 65_536

/** A definition may be long, and is asked for at each call. */
const knownFacts = new WeakMap<JsonBytes, ToolFacts>()

export function toolFacts(raw: JsonBytes): ToolFacts {
  const known = knownFacts.get(raw) ?? readFacts(raw)
  knownFacts.set(raw, known)
  return known
}

function readFacts(raw: JsonBytes): ToolFacts {
  const limits = { maxBytes: raw.length, maxDepth: 10_000, maxValues: 16 }
  const root = readJson(raw, TOOL, limits) ?? undefined
  const hints = memberOf(root, 'annotations')
  const execution = memberOf(root, 'execution')
  const support = memberOf(execution, 'taskSupport')
  const schema = memberOf(root, 'inputSchema')
  const flags = HINTS.map(name => {
    const hint = memberOf(hints, name)
    return [name, hint && parseAt(raw, hint)] as const
  })
  // If a member is there twice, any could be meant.
  const isUnclear = root === undefined || [root, hints, execution].some(node => node?.doubled)
  return {
    hasOutputSchema: memberOf(root, 'outputSchema') !== undefined,
    hasUi: memberOf(memberOf(root, '_meta'), 'ui') !== undefined,
    annotations: isUnclear
      ? { destructiveHint: true }
      : Object.fromEntries(flags.filter(([, flag]) => typeof flag === 'boolean')),
    isInteractive: support !== undefined && parseAt(raw, support) !== 'forbidden',
    inputSchema:
      schema !== undefined && schema.end - schema.start <= MAX_SCHEMA_BYTES
        ? raw.subarray(schema.start, schema.end)
        : null,
  }
}

/** The tool as the planner sees it. */
export function listedTool({ key, server, raw }: PublicEntry, isTrusted: boolean): ListedTool {
  const { annotations, isInteractive } = toolFacts(raw)
  return { name: key, server, isTrusted, annotations, isInteractive }
}
