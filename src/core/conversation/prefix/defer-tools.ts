import { dialectOfBody } from '../../dialects/lookup.ts'
import { itemsOf, type JsonNode, memberOf, textOf } from '../../json/bytes/json-node.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { LOWER_T, OPEN_BRACKET, QUOTE } from '../../json/char-codes.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import { matchModel } from '../../pipeline/profile/match-model.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { definitionTokens, toolBlocks } from './called-tools.ts'
import { kindOf } from './longer-life.ts'
import { isKnownHost } from './place-breakpoint.ts'
import { breakpointsIn } from './request-head.ts'

/** Tools that a conversation's requests define, and whose model does not see them unasked. */
export interface Deferral {
  /** Their names, with the tokens of their definitions. */
  readonly tools: readonly (readonly [name: string, tokens: number])[]
  /** Whether the provider searches for them; absent: the agent's own tool does. */
  readonly hosted?: true
  /** Tokens that are added for it. */
  readonly added: number
}

/** How a deferral changes one request. */
export interface Deferred {
  /** Within the list of tools, in its order; none is within another. */
  readonly edits: readonly Replacement[]
  /** What instructions end with; empty: nothing is added. */
  readonly block: string
  /** Tokens that its prompt is spared. */
  readonly tokens: number
  /** Searches of the last turn that loaded some of them. */
  readonly searches: number
}

/** Claude Code's own search; it finds a tool by `select:` whether or not that was deferred. */
const OWN_SEARCH = 'ToolSearch'
const HOSTED_SEARCH = 'tool_search_tool_bm25'
const HOSTED = JSON.stringify({ type: `${HOSTED_SEARCH}_20251119`, name: HOSTED_SEARCH })
/** Tools that lead to others: those of our gateway, and the agent's own search. */
const LEADING = ['find_tools', 'call_tool', 'call_read_tool', OWN_SEARCH]
/** A search reads the whole prompt once more: less is not worth one. */
const LEAST_TOKENS = 1_000
/** What the provider accepts as a name. */
const NAME = /^[\w-]{1,128}$/
const MARK = '"defer_loading":true,'

const namesOf = ({ tools }: Deferral) => tools.map(([name]) => name).join(', ')

function sentenceOf(deferral: Deferral): string {
  return ` More deferred tools, fetched by exact name ("select:NAME"): ${namesOf(deferral)}.`
}

function blockOf(deferral: Deferral): string {
  const text = 'More tools are deferred. Search for one by its name to load it'
  return `<haversack_tools>${text}: ${namesOf(deferral)}.</haversack_tools>`
}

/**
 * The tools that a conversation begins without: those that its kind of agent did not call lately,
 * and that nothing in the request names.
 */
export function deferralFor(
  scanned: ScannedRequest,
  context: ConversationContext,
): Deferral | undefined {
  const { terms, pipeline = DEFAULT_PIPELINE, counters } = context
  if (!pipeline.cache_align.defer || !mayDefer(scanned, context)) return undefined
  const known = terms?.agentTools?.find(({ kind }) => kind === kindOf(scanned))
  const listed = listedTools(scanned)
  if (known?.recent == null || listed === null) return undefined
  const isOwn = listed.some(isOwnSearch)
  if (!isOwn && (known.dropsSearches || !hasInstructions(scanned))) return undefined
  const { redeem_tools: names } = pipeline.elision
  const kept = new Set([...known.recent, ...wordsBefore(scanned)])
  const isKept = ({ name }: ListedTool) =>
    kept.has(name) || isRetrieving(name, names) || isRetrieving(name, LEADING)
  const chosen = listed.filter(each => each.mayDefer && !isKept(each))
  const tokens = definitionTokens(scanned, context)?.byName
  if (tokens === undefined || chosen.length === listed.length) return undefined
  const deferral: Deferral = {
    tools: chosen.map(({ name }) => [name, tokens.get(name)!]),
    ...(!isOwn && { hosted: true }),
    added: 0,
  }
  const text = isOwn ? sentenceOf(deferral) : HOSTED + blockOf(deferral)
  const added = counters.get(resolveTokenizer(scanned)).count(text)
  return sumOf(deferral) - added < LEAST_TOKENS ? undefined : { ...deferral, added }
}

/**
 * Marks the tools of a deferral. Returns `null` if the request stays: its provider or model does
 * not take it, or its client does not give back what a search found.
 */
export function deferTools(
  scanned: ScannedRequest,
  deferral: Deferral,
  context: ConversationContext,
): Deferred | null {
  const listed = listedTools(scanned)
  const list = memberOf(scanned.request, 'tools')
  if (list === undefined || listed === null || !mayDefer(scanned, context)) return null
  const search = listed.find(isOwnSearch)
  const { hosted = false } = deferral
  if (hosted ? droppedAt(scanned, deferral) !== null : search === undefined) return null
  const names = new Map(deferral.tools)
  const { body, request } = scanned
  names.delete(textOf(body, memberOf(memberOf(request, 'tool_choice'), 'name')) ?? '')
  const marked = listed.filter(({ name, mayDefer }) => mayDefer && names.has(name))
  if (marked.length === 0 || marked.length === listed.length) return null
  const edits = marked.map(({ item: { start } }) => {
    return { start, end: start + 1, literal: Buffer.from(`{${MARK}`) }
  })
  if (hosted) {
    const literal = Buffer.from(`[${HOSTED},`)
    edits.push({ start: list.start, end: list.start + 1, literal })
  } else {
    const { end } = search!.description!
    const sentence = JSON.stringify(sentenceOf(deferral)).slice(1)
    edits.push({ start: end - 1, end, literal: Buffer.from(sentence) })
  }
  const { loaded, searches } = loadedOf(scanned, names)
  const spared = marked.filter(({ name }) => !loaded.has(name))
  return {
    edits: edits.sort((a, b) => a.start - b.start),
    block: hosted ? blockOf(deferral) : '',
    tokens: spared.reduce((sum, { name }) => sum + names.get(name)!, 0) - deferral.added,
    searches,
  }
}

/**
 * The message with the first call of a deferred tool that nothing loaded: its client does not give
 * back what the provider's search found. Returns `null` if there is none.
 */
export function droppedAt(scanned: ScannedRequest, { tools }: Deferral): number | null {
  const missing = new Set(tools.map(([name]) => name))
  for (const { isCall, name, message } of toolBlocks(scanned)) {
    if (isCall && missing.has(name)) return message
    missing.delete(name)
  }
  return null
}

function sumOf({ tools }: Deferral): number {
  return tools.reduce((sum, [, tokens]) => sum + tokens, 0)
}

/** Whether the upstream and the model of a request are known to search tools. */
function mayDefer(scanned: ScannedRequest, context: ConversationContext): boolean {
  const { model = context.terms?.model } = scanned
  const { agentTools = [] } = context.terms ?? {}
  const isRefused = agentTools.some(each => each.isRefused && each.kind === kindOf(scanned))
  const { searchingModels = [] } = dialectOfBody(scanned.route).vendor
  const isListed = model !== undefined && matchModel(searchingModels, model) !== undefined
  return isListed && !isRefused && isKnownHost(scanned, context)
}

interface ListedTool {
  readonly item: JsonNode
  readonly name: string
  readonly description: JsonNode | undefined
  /** Whether the provider lets it be deferred. */
  readonly mayDefer: boolean
}

const isOwnSearch = ({ name, description }: ListedTool) =>
  name === OWN_SEARCH && description !== undefined

/**
 * The tools of a request. Returns `null` if none of them may be deferred: one has examples, which
 * no search takes; the provider searches already; a definition or name is there twice.
 */
function listedTools({ body, request }: ScannedRequest): readonly ListedTool[] | null {
  const names = new Set<string>()
  const listed: ListedTool[] = []
  for (const item of itemsOf(memberOf(request, 'tools'))) {
    const text = (key: string) => textOf(body, memberOf(item, key))
    const [name = '', type = 'custom'] = [text('name'), text('type')]
    if (item.doubled || names.has(name) || memberOf(item, 'input_examples')) return null
    if (type.startsWith('tool_search_tool')) return null
    names.add(name)
    const deferred = memberOf(item, 'defer_loading')
    const isDeferred = deferred !== undefined && body[deferred.start] === LOWER_T
    // What the client defers is no tool that the model sees.
    if (isDeferred) continue
    const description = memberOf(item, 'description')
    const isText = description !== undefined && body[description.start] === QUOTE
    const isPlain = deferred === undefined && breakpointsOf(item) === 0
    const mayDefer = type === 'custom' && isPlain && NAME.test(name)
    listed.push({ item, name, description: isText ? description : undefined, mayDefer })
  }
  return names.has(HOSTED_SEARCH) ? null : listed
}

function breakpointsOf(item: JsonNode): number {
  return breakpointsIn({ ...item, items: [item] }).length
}

function hasInstructions({ body, request }: ScannedRequest): boolean {
  const system = memberOf(request, 'system')
  return system !== undefined && [QUOTE, OPEN_BRACKET].includes(body[system.start]!)
}

/** What instructions, the opening and `tool_choice` say, in words that may be names of tools. */
function wordsBefore({ body, request, messages, opening }: ScannedRequest): readonly string[] {
  const parts = [
    ...['system', 'tool_choice'].flatMap(key => memberOf(request, key) ?? []),
    ...messages.slice(0, opening),
  ]
  // An escape ends in a letter.
  return parts.flatMap(
    ({ start, end }) =>
      body
        .toString('latin1', start, end)
        .replaceAll(/\\[nrtbf]/g, ' ')
        .match(/[\w-]+/g) ?? [],
  )
}

/** Which of these tools were loaded, and how many searches of the last turn did so. */
function loadedOf(scanned: ScannedRequest, names: ReadonlyMap<string, number>) {
  const { read, body } = scanned
  const isOfModel = (node: JsonNode) => textOf(body, memberOf(node, 'role')) === 'assistant'
  const last = read.findLastIndex(isOfModel)
  const loaded = new Set<string>()
  const searches = new Set<number>()
  for (const { message, isCall, name } of toolBlocks(scanned)) {
    if (isCall || !names.has(name)) continue
    if (message >= last) searches.add(message)
    loaded.add(name)
  }
  return { loaded, searches: searches.size }
}
