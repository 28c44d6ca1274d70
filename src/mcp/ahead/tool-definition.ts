import type { ListedTool, ToolAnnotations } from '../../core/enrich/eligibility.ts'
import {
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  parseAt,
  RANGE,
  textOf,
} from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import type { PublicEntry } from '../catalogue/catalogue.ts'

/** What a tool's definition states for the planner. */
export interface ToolDefinition {
  readonly annotations: ToolAnnotations
  readonly isInteractive: boolean
  /** JSON; `null` if it is too large to be checked for each call. */
  readonly inputSchema: JsonBytes | null
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
const TOOL = members({
  annotations: members({
    readOnlyHint: RANGE,
    destructiveHint: RANGE,
    idempotentHint: RANGE,
    openWorldHint: RANGE,
  }),
  execution: members({ taskSupport: RANGE }),
  inputSchema: RANGE,
})

/** Larger schemas accept nothing. */
const MAX_SCHEMA_BYTES = 65_536

/** By the bytes of the definition, which stay the same until the server lists others. */
const known = new WeakMap<JsonBytes, ToolDefinition>()

export function toolDefinition(raw: JsonBytes): ToolDefinition {
  const before = known.get(raw)
  if (before !== undefined) return before
  const definition = readDefinition(raw)
  known.set(raw, definition)
  return definition
}

function readDefinition(raw: JsonBytes): ToolDefinition {
  const limits = { maxBytes: raw.length, maxDepth: 10_000, maxValues: 16 }
  const root = readJson(raw, TOOL, limits) ?? undefined
  const hints = memberOf(root, 'annotations')
  const schema = memberOf(root, 'inputSchema')
  const isSmall = schema !== undefined && schema.end - schema.start <= MAX_SCHEMA_BYTES
  const support = textOf(raw, memberOf(memberOf(root, 'execution'), 'taskSupport'))
  // If a member is there twice, any could be meant.
  const isUnclear = root === undefined || root.doubled || hints?.doubled === true
  return {
    annotations: isUnclear ? { destructiveHint: true } : annotationsOf(raw, hints),
    isInteractive: support !== undefined && support !== 'forbidden',
    inputSchema: isSmall ? Buffer.from(raw.subarray(schema.start, schema.end)) : null,
  }
}

function annotationsOf(raw: JsonBytes, hints: JsonNode | undefined): ToolAnnotations {
  return Object.fromEntries(
    HINTS.flatMap(name => {
      const hint = memberOf(hints, name)
      const value = hint === undefined ? undefined : parseAt(raw, hint)
      return typeof value === 'boolean' ? [[name, value]] : []
    }),
  )
}

/** The tool as the planner sees it. */
export function catalogueTool(entry: PublicEntry, isTrusted: boolean): ListedTool {
  const { annotations, isInteractive } = toolDefinition(entry.raw)
  return { name: entry.key, server: entry.server, isTrusted, annotations, isInteractive }
}
