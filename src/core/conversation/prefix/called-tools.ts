import { hash } from 'node:crypto'
import { BoundedMap } from '../../base/bounded-map.ts'
import { bodyRules } from '../../dialects/lookup.ts'
import { itemsOf, type JsonNode, memberOf, textOf } from '../../json/bytes/json-node.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import { headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'

/** Larger lists are not counted. */
const MAX_LIST_BYTES = 1024 * 1024
/** Lists of tools whose tokens a thread remembers, each for its tenant: time would tell others. */
const MOST_LISTS = 64

/** The tokens of a request's definitions of tools. */
export interface DefinitionTokens {
  readonly all: number
  readonly byName: ReadonlyMap<string, number>
}

const counted = new BoundedMap<string, DefinitionTokens>(MOST_LISTS)

/** Counts the definitions of tools as the client sent them; `null`: it has none. */
export function definitionTokens(
  { body, request, route, model }: ScannedRequest,
  { counters, rewrites }: Pick<ConversationContext, 'counters' | 'rewrites'>,
): DefinitionTokens | null {
  const rules = headRulesOf(route)
  const list = memberOf(request, 'tools')
  const items = itemsOf(list)
  if (rules === undefined || list === undefined || items.length === 0) return null
  if (list.end - list.start > MAX_LIST_BYTES) return null
  const tokenizer = resolveTokenizer({ model })
  const digest = hash('sha256', body.subarray(list.start, list.end), 'hex')
  const key = `${tokenizer} ${digest} ${rewrites?.tenant ?? ''}`
  const known = counted.get(key)
  if (known !== undefined) return known
  const counter = counters.get(tokenizer)
  const byName = new Map<string, number>()
  let all = 0
  for (const item of items) {
    const tokens = counter.count(body.toString('utf8', item.start, item.end))
    const name = toolName(body, item, rules.toolNames)
    all += tokens
    if (name !== undefined) byName.set(name, tokens)
  }
  const result = { all, byName }
  counted.set(key, result)
  return result
}

/** The name that a definition states; a definition with doubled keys has none. */
export function toolName(
  body: ScannedRequest['body'],
  item: JsonNode,
  paths: readonly (readonly string[])[],
): string | undefined {
  for (const path of paths) {
    let node: JsonNode | undefined = item
    for (const key of path) node = node?.doubled ? undefined : memberOf(node, key)
    const name = textOf(body, node)
    if (name !== undefined) return name
  }
  return undefined
}

/** Names of the tools that the conversation has called so far. */
export function calledTools(scanned: ScannedRequest): ReadonlySet<string> {
  const { results, forPrograms, route } = scanned
  const called = new Set<string>()
  for (const { tool } of [...results, ...forPrograms]) if (tool !== undefined) called.add(tool)
  if (bodyRules(route).hasBlocks) for (const { name } of toolBlocks(scanned)) called.add(name)
  return called
}

/** A block of a message: a call, or a reference that loads a deferred tool. */
export interface ToolBlock {
  readonly message: number
  readonly isCall: boolean
  readonly name: string
}

const REFERENCE = /"tool_name"\s*:\s*"([\w-]{1,128})"/g

/** Calls of tools, and references to deferred ones, in the order of the conversation. Linear. */
export function* toolBlocks({ body, read }: ScannedRequest): Generator<ToolBlock> {
  for (const [message, node] of read.entries()) {
    for (const block of itemsOf(memberOf(node, 'content'))) {
      const type = textOf(body, memberOf(block, 'type'))
      if (type === 'tool_use') {
        const name = textOf(body, memberOf(block, 'name'))
        if (name !== undefined) yield { message, isCall: true, name }
      } else if (isSearchResult(body, block, type)) {
        const text = body.toString('latin1', block.start, block.end)
        for (const [, name] of text.matchAll(REFERENCE))
          yield { message, isCall: false, name: name! }
      }
    }
  }
}

/** The provider's search, or the result of a client's own one. */
function isSearchResult(
  body: ScannedRequest['body'],
  block: JsonNode,
  type: string | undefined,
): boolean {
  if (type === 'tool_search_tool_result') return true
  if (type !== 'tool_result') return false
  const parts = itemsOf(memberOf(block, 'content'))
  return parts.some(part => textOf(body, memberOf(part, 'type')) === 'tool_reference')
}
