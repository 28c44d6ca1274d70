interface Tool {
  readonly name?: string
  readonly type?: string
  readonly defer_loading?: boolean
  readonly [key: string]: unknown
}

interface Block {
  readonly type?: string
  readonly name?: string
  readonly content?: unknown
  readonly tool_references?: unknown
}

export interface SearchedBody {
  readonly model?: string
  readonly tools?: readonly Tool[]
  readonly tool_choice?: { readonly type: string; readonly name?: string }
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly [key: string]: unknown
}

const SEARCH = /^tool_search_tool_(bm25|regex)(?:_20251119)?$/
const MOST_TOOLS = 10_000

/**
 * Why Anthropic would answer 400, by what its documents and its messages say of deferred tools;
 * `null`: it would not.
 */
export function refusalOf(body: SearchedBody): string | null {
  const tools = body.tools ?? []
  const deferred = tools.filter(each => each.defer_loading === true)
  const names = tools.map(({ name }) => name)
  const search = tools.find(({ type }) => SEARCH.test(type ?? ''))
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.'
  if (tools.length > MOST_TOOLS) return 'tools: too many tools'
  if (names.some(name => !/^[\w-]{1,128}$/.test(name ?? '')))
    return 'tools.name: String should match'
  if (search !== undefined && !search.type!.startsWith(`${search.name}_`))
    return 'tools.name: fixed'
  if (search?.defer_loading === true) return 'the tool search tool cannot be deferred'
  if (deferred.length > 0 && deferred.length === tools.length) {
    return 'All tools have defer_loading set. At least one tool must be non-deferred.'
  }
  for (const { name, cache_control, type = 'custom' } of deferred) {
    if (cache_control !== undefined) {
      return `Tool '${name}' cannot have both defer_loading=true and cache_control set.`
    }
    if (type !== 'custom') return `Tool '${name}' cannot be deferred`
    if (body.tool_choice?.name === name) return `tool_choice: '${name}' is deferred`
  }
  const hasExamples = tools.some(each => each['input_examples'] !== undefined)
  if (deferred.length > 0 && hasExamples) return 'tool search does not support input_examples'
  const isSearching = search !== undefined || deferred.length > 0
  if (isSearching && /claude-(?:3|2|opus-4-1|sonnet-4-2)/.test(body.model ?? '')) {
    return `'${body.model}' does not support tool search`
  }
  const unknown = loadedBy(body).find(name => !names.includes(name))
  if (unknown !== undefined)
    return `Tool reference '${unknown}' has no corresponding tool definition`
  return null
}

/** Tools that the messages load, in their order. */
function loadedBy({ messages }: SearchedBody): readonly string[] {
  return messages.flatMap(({ content }) =>
    (Array.isArray(content) ? (content as Block[]) : []).flatMap(block =>
      [...JSON.stringify(block).matchAll(/"type":"tool_reference","tool_name":"([^"]*)"/g)].map(
        ([, name]) => name!,
      ),
    ),
  )
}

/** Tools that the model can call: those that are not deferred, or loaded by now. */
export function callableOf(body: SearchedBody): readonly string[] {
  const loaded = new Set(loadedBy(body))
  return (body.tools ?? [])
    .filter(({ name, defer_loading }) => defer_loading !== true || loaded.has(name!))
    .map(({ name }) => name!)
}
