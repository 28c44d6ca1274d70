import type { ListedTool } from '../../core/enrich/eligibility.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { OPEN_BRACE } from '../../core/json/char-codes.ts'
import type { PublicEntry } from '../catalogue/catalogue.ts'
import { member, shortValue } from '../members.ts'

/** What a tool's definition states for the planner. */
export interface ToolDefinition extends Pick<ListedTool, 'annotations' | 'isInteractive'> {
  /** JSON; `null` if it is too large to be checked for each call. */
  readonly inputSchema: JsonBytes | null
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** Larger schemas accept nothing. */
const MAX_SCHEMA_BYTES = 65_536

/** By the bytes of the definition, which stay the same until the server lists others. */
const known = new WeakMap<JsonBytes, ToolDefinition>()

export function toolDefinition(raw: JsonBytes): ToolDefinition {
  const definition = known.get(raw) ?? readDefinition(raw)
  known.set(raw, definition)
  return definition
}

function readDefinition(raw: JsonBytes): ToolDefinition {
  const schema = member(raw, 'inputSchema')
  const hints = member(raw, 'annotations')
  const execution = member(raw, 'execution')
  const support = isObject(execution) ? member(execution, 'taskSupport') : undefined
  const stated = isObject(hints) ? HINTS.map(name => [name, member(hints, name)] as const) : []
  // If a member is there twice, any could be meant.
  const all = [schema, hints, execution, support, ...stated.map(([, hint]) => hint)]
  const flags = stated.map(([name, hint]) => [name, hint && shortValue(hint)] as const)
  return {
    annotations: all.includes(null)
      ? { destructiveHint: true }
      : Object.fromEntries(flags.filter(([, flag]) => typeof flag === 'boolean')),
    isInteractive: support !== undefined && support?.toString() !== '"forbidden"',
    inputSchema: schema && schema.length <= MAX_SCHEMA_BYTES ? Buffer.from(schema) : null,
  }
}

function isObject(raw: JsonBytes | null | undefined): raw is JsonBytes {
  return raw?.[0] === OPEN_BRACE
}

/** The tool as the planner sees it. */
export function catalogueTool({ key, server, raw }: PublicEntry, isTrusted: boolean): ListedTool {
  const { annotations, isInteractive } = toolDefinition(raw)
  return { name: key, server, isTrusted, annotations, isInteractive }
}
