import type { HeadRules } from '../../dialects/bodies/route.ts'
import { itemsOf, type JsonNode, memberOf } from '../../json/bytes/json-node.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { LOWER_T } from '../../json/char-codes.ts'
import { parseJson } from '../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { writeJson } from '../../json/write-json.ts'
import { headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import { toolName } from './called-tools.ts'
import type { LeversInForce } from './levers.ts'
import { breakpointsIn } from './request-head.ts'

/** Breakpoints that a request may have, by Anthropic's documents. */
const MAX_BREAKPOINTS = 4
/** Deeper definitions of tools are left as they are. */
const MAX_DEPTH = 64

/** A tool of a request. */
interface NamedTool {
  readonly name: string
  /** With the keys of all objects in order. */
  readonly text: string
  /** Whether its definition is loaded later, so that it is in no cached prefix. */
  readonly isDeferred: boolean
}

/**
 * Writes the tools in the order and spelling of the conversation: by name, keys sorted, numbers as
 * they are spelled. Tools that come later stand behind. The last one ends the cached prefix, if the
 * client has no breakpoint in its tools or instructions. Returns `null` if the list stays: it is no
 * list of tools with names, or the client has a breakpoint in it.
 * @param options.ttl names the life of the breakpoint, if that is not the usual one
 * @param options.edits of single tools, and of the start of the list
 */
export function normaliseTools(
  scanned: ScannedRequest,
  { decide }: Pick<LeversInForce, 'decide'>,
  { ttl, edits }: { readonly ttl: string; readonly edits: readonly Replacement[] },
): Replacement | null {
  const { body, request, route } = scanned
  const rules = headRulesOf(route)
  const list = memberOf(request, 'tools')
  if (rules === undefined || list?.items == null || list.items.length === 0) return null
  if (breakpointsIn(list).length > 0) return null
  const tools = readTools(body, list, { rules, edits })
  if (tools === null) return null
  const places = placesOf(new Set(tools.map(({ name }) => name)), decide)
  const placeOf = ({ name }: NamedTool) => places.get(name) as number
  const sorted = tools.sort((a, b) => placeOf(a) - placeOf(b) || compare(a.text, b.text))
  const mayEnd = rules.hasToolBreakpoints && mayAddBreakpoint(scanned)
  const last = mayEnd ? sorted.findLastIndex(({ isDeferred }) => !isDeferred) : -1
  const texts = sorted.map(({ text }, index) =>
    index === last ? `${text.slice(0, -1)},"cache_control":{"type":"ephemeral"${ttl}}}` : text,
  )
  const begin = edits.find(({ start }) => start === list.start)?.literal ?? '['
  return { start: list.start, end: list.end, literal: Buffer.from(`${begin}${texts.join(',')}]`) }
}

/** By code units, as keys are sorted. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/**
 * The place of each name in the conversation. What each request adds is recorded as one step, so
 * that tools never change their places.
 */
function placesOf(
  names: Set<string>,
  decide: LeversInForce['decide'],
): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  const missing = new Set(names)
  for (let step = 0; missing.size > 0; step++) {
    const added = decide(`tools ${step}`, () => [...missing].sort(compare))
    for (const name of added) {
      if (!places.has(name)) places.set(name, places.size)
      missing.delete(name)
    }
  }
  return places
}

interface ToolReading {
  readonly rules: HeadRules
  readonly edits: readonly Replacement[]
}

/** Returns `null` if one of them is not clear. */
function readTools(
  body: Buffer,
  list: JsonNode,
  { rules, edits }: ToolReading,
): NamedTool[] | null {
  const tools: NamedTool[] = []
  const left = edits.filter(({ start }) => start > list.start)
  for (const item of itemsOf(list)) {
    const name = item.doubled ? undefined : toolName(body, item, rules.toolNames)
    const edit = left[0] !== undefined && left[0].end <= item.end ? left.shift() : undefined
    const text = name === undefined ? null : sortedText(textWith(body, item, edit))
    if (name === undefined || text === null) return null
    const deferred = memberOf(item, 'defer_loading')
    const isOwn = deferred !== undefined && body[deferred.start] === LOWER_T
    // A tool is edited at its start to be deferred.
    tools.push({ name, text, isDeferred: isOwn || edit?.start === item.start })
  }
  return tools
}

function textWith(body: Buffer, { start, end }: JsonNode, edit: Replacement | undefined): string {
  if (edit === undefined) return body.toString('utf8', start, end)
  const pieces = [body.subarray(start, edit.start), edit.literal, body.subarray(edit.end, end)]
  return Buffer.concat(pieces).toString('utf8')
}

function sortedText(text: string): string | null {
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  return parsed.ok && parsed.value instanceof ObjectValue ? writeJson(sorted(parsed.value)) : null
}

/** An object that has a key twice keeps its order, since parsers differ in which one they take. */
function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted)
  if (!(value instanceof ObjectValue)) return value
  const { keys, values } = value
  const order = keys.map((_, index) => index)
  if (new Set(keys).size === keys.length) {
    order.sort((a, b) => compare(keys[a] as string, keys[b] as string))
  }
  const member = (index: number) => sorted(values[index] as Value)
  return new ObjectValue(
    order.map(index => keys[index] as string),
    order.map(member),
  )
}

/**
 * Whether one more breakpoint is allowed. A longer life must not follow a shorter one, so nothing
 * is added beside breakpoints that name theirs.
 */
function mayAddBreakpoint({ body, request, breakpoints }: ScannedRequest): boolean {
  if (breakpointsIn(memberOf(request, 'system')).length > 0) return false
  const top = memberOf(request, 'cache_control')
  const all = [...breakpoints, ...(top === undefined ? [] : [top])]
  const namesLife = all.some(({ start, end }) => body.subarray(start, end).includes('"ttl"'))
  return all.length < MAX_BREAKPOINTS && !namesLife
}
