import { createHash } from 'node:crypto'
import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { QUOTE } from '../../../core/json/char-codes.ts'
import { jsonBytes } from '../../json-rpc.ts'
import {
  EMPTY_OBJECT,
  member,
  objectMember,
  shortValue,
  textMember,
  withMember,
} from '../../members.ts'
import type { Servers } from '../../servers.ts'
import type { PublicEntry } from '../catalogue.ts'
import { Parts } from '../lists/in-parts.ts'
import { toolFacts } from '../tool-facts.ts'
import { argumentFault } from './argument-fault.ts'
import { searchResult } from './search-answer.ts'
import { SEARCH_NAMES, type SearchRole, searchDefinitions } from './search-definitions.ts'
import { isKeptApart, staysListed, type ToolSearchOptions } from './search-options.ts'
import { definitionTokens } from './sent-definition.ts'
import { type FoundTools, ToolIndex } from './tool-index.ts'

interface SearchNeeds {
  readonly servers: Servers
  /** Whether the client searches tools itself. */
  readonly isOwn: boolean
  composed(): ReadonlyMap<string, JsonBytes>
}

/** What one session sees instead of all tools. */
interface Session {
  readonly names: Readonly<Record<SearchRole, string>>
  readonly definitions: ReadonlyMap<string, JsonBytes>
  readonly learned: ReadonlySet<string>
  /** Names that the model was told, or sees in the list. */
  readonly told: Set<string>
  readonly note: (tool: string) => void
  /** A hash of the list that the client has. */
  shown: string
}

/** A call of the tool that a call of ours names, or why there is none. */
type NamedCall =
  | { readonly kind: 'call'; readonly name: string; readonly params: JsonBytes }
  | { readonly kind: 'refused'; readonly result: JsonBytes }

/** A client sees a search in place of lists with more. */
const LONG_LIST_TOKENS = 6_000
const LIMIT = 5
const MOST_LIMIT = 15
const MOST_NEAREST = 10
const MOST_NEW = 50

/**
 * Tools on demand. The first list of a session decides whether it has all tools, or three of ours:
 * `find_tools`, `call_read_tool` and `call_tool`. A call of the last two becomes a call of the tool
 * that it names, and goes the way of a direct one. Beside ours a list has what may not be hidden,
 * what is to be kept, and what this client called in its last sessions. What the list has changes
 * only with the servers, never by a search: a new list costs the provider's cache.
 */
export class ToolSearch {
  readonly #options: ToolSearchOptions
  readonly #needs: SearchNeeds
  #deciding: Promise<Session | null> | null = null
  #session: Session | null = null
  #index: { readonly tools: readonly PublicEntry[]; readonly ready: Promise<ToolIndex> } | null =
    null

  constructor(options: ToolSearchOptions, needs: SearchNeeds) {
    this.#options = options
    this.#needs = needs
  }

  /**
   * What the client's list has beside its own tools: definitions of ours, and which others.
   * @returns `null` if it has all tools
   */
  async listing() {
    const session = await this.#decided()
    if (session === null) return null
    session.shown = this.#digest(session)
    return {
      definitions: session.definitions,
      has: (entry: PublicEntry) => this.#isListed(entry, session),
    }
  }

  /** Whether the client's list differs from the one that it has. */
  isListStale(): boolean {
    const session = this.#session
    return session === null || session.shown !== this.#digest(session)
  }

  /** What a tool of ours does; `null` for all other names. */
  async roleOf(name: string): Promise<SearchRole | null> {
    if (!OURS.test(name)) return null
    const session = await this.#decided()
    return ROLES.find(role => session?.names[role] === name) ?? null
  }

  /** A tool was called. */
  called(publicName: string): void {
    this.#session?.note(publicName)
  }

  /** @param params of a call of `find_tools` */
  async find(params: JsonBytes): Promise<JsonBytes> {
    const session = (await this.#decided())!
    const args = objectMember(params, 'arguments') ?? EMPTY_OBJECT
    const query = textMember(args, 'query')?.trim() ?? ''
    if (query === '') return failed('query must have a name or words')
    const index = await this.#current()
    const { named, ranked }: FoundTools = index.find(query)
    const limit = Math.max(limitOf(args), named.length)
    const found = [...named, ...ranked]
    const isNamed = ranked.length === 0
    const tail = this.#news(session)
    return searchResult({
      whole: found.slice(0, limit),
      others: found.length === 0 ? likely(index, query) : isNamed ? [] : found.slice(limit),
      callerOf: tool => this.#callerOf(tool, session),
      ...(found.length === 0 ? { head: 'No tool has these words.' } : {}),
      ...(tail === null ? {} : { tail }),
    })
  }

  /** @param params of a call of `call_read_tool` or `call_tool` */
  async named(role: 'read' | 'call', params: JsonBytes): Promise<NamedCall> {
    const session = (await this.#decided())!
    const args = objectMember(params, 'arguments') ?? EMPTY_OBJECT
    const name = textMember(args, 'name') ?? ''
    const index = await this.#current()
    const [entry, ...more] = index.ofName(name)
    if (entry === undefined || more.length > 0) {
      const others = entry === undefined ? likely(index, name) : [entry, ...more]
      const callerOf = (tool: PublicEntry) => this.#callerOf(tool, session)
      const count = entry === undefined ? 'no' : 'more than one'
      const head = `There is ${count} tool ${name.slice(0, 100)}.`
      return refused(searchResult({ whole: [], others, callerOf, head }))
    }
    const { publicKey } = entry
    if (role === 'read' && !this.#onlyReads(entry)) {
      const caller = this.#callerOf(entry, session)
      const way = caller === null ? 'by its own name' : `with ${caller}`
      return refused(failed(`${publicKey} may change something: call it ${way}`))
    }
    if (role === 'call' && isKeptApart(entry)) {
      return refused(failed(`${publicKey} is in the list of tools: call it by its own name`))
    }
    const given = unwrapped(member(args, 'arguments') ?? EMPTY_OBJECT)
    const fault = argumentFault(given, objectMember(entry.raw, 'inputSchema'))
    if (fault !== null) {
      const callerOf = () => session.names[role]
      return refused(
        searchResult({ whole: [entry], others: [], callerOf, head: `Not called: ${fault}.` }),
      )
    }
    const called = withMember(params, 'name', JSON.stringify(publicKey))
    const sent = called && withMember(called, 'arguments', given)
    if (sent === null) return refused(failed('a name comes twice'))
    return { kind: 'call', name: publicKey, params: sent }
  }

  #decided(): Promise<Session | null> {
    this.#deciding ??= this.#decide()
    return this.#deciding
  }

  async #decide(): Promise<Session | null> {
    const { mode, above_tokens: most = LONG_LIST_TOKENS, learned } = this.#options
    await this.#needs.servers.listed()
    if (mode === 'never' || (mode === 'auto' && this.#needs.isOwn)) return null
    const tools = this.#all()
    const known = new Map(tools.map(tool => [tool.publicKey, tool]))
    if (mode === 'auto' && (await tokensOf(tools)) <= most) return null
    const listed = new Set<string>()
    let tokens = await tokensOf(tools.filter(tool => this.#isAlwaysListed(tool)))
    for (const name of learned.recent()) {
      const tool = known.get(name)
      if (tool === undefined || this.#isAlwaysListed(tool)) continue
      tokens += definitionTokens(tool)
      if (tokens >= most) break
      listed.add(name)
    }
    const names = freeNames(known)
    const hidden = tools.filter(tool => !listed.has(tool.publicKey) && !this.#isAlwaysListed(tool))
    const session: Session = {
      names,
      definitions: searchDefinitions(names, hidden),
      learned: listed,
      told: new Set(known.keys()),
      note: learned.begin(),
      shown: '',
    }
    session.shown = this.#digest(session)
    this.#session = session
    return session
  }

  /** The tools of all servers, and those that are composed of them, by their public names. */
  #all(): readonly PublicEntry[] {
    const composed = this.#needs.composed()
    const theirs = this.#needs.servers.catalogue.all('tools')
    if (composed.size === 0) return theirs
    const own = [...composed].map(([name, raw]) => ({
      key: name,
      publicKey: name,
      server: '',
      raw,
    }))
    const others = theirs.filter(({ publicKey }) => !composed.has(publicKey))
    return [...others, ...own].sort((a, b) => (a.publicKey < b.publicKey ? -1 : 1))
  }

  #isListed(entry: PublicEntry, { learned }: Pick<Session, 'learned'>): boolean {
    return learned.has(entry.publicKey) || this.#isAlwaysListed(entry)
  }

  #isAlwaysListed(entry: PublicEntry): boolean {
    return entry.server === '' || staysListed(entry, this.#options)
  }

  #onlyReads({ server, key, raw }: PublicEntry): boolean {
    if (server === '') return true
    const { readOnlyHint, destructiveHint } = toolFacts(raw).annotations
    const { trusted } = this.#needs.servers.settingsOf(server)
    const byServer = trusted && readOnlyHint === true && destructiveHint !== true
    return this.#options.isStatedReadOnly(key, server) ?? byServer
  }

  /** The name of ours that calls a tool; `null` if the client has it in its list. */
  #callerOf(tool: PublicEntry, session: Session): string | null {
    if (this.#isListed(tool, session)) return null
    return session.names[this.#onlyReads(tool) ? 'read' : 'call']
  }

  /** Tools that servers have had since the list, once; `null` if there are none. */
  #news({ told }: Session): string | null {
    const added = this.#all()
      .filter(({ publicKey }) => !told.has(publicKey))
      .slice(0, MOST_NEW)
    for (const { publicKey } of added) told.add(publicKey)
    return added.length === 0
      ? null
      : `New tools: ${added.map(({ publicKey }) => publicKey).join(', ')}`
  }

  #digest(session: Session): string {
    const hash = createHash('sha256')
    for (const tool of this.#all()) {
      if (this.#isListed(tool, session)) hash.update(tool.publicKey).update('\n').update(tool.raw)
    }
    return hash.digest('base64')
  }

  /** The index of all tools as they are now. */
  async #current(): Promise<ToolIndex> {
    for (;;) {
      const tools = this.#all()
      if (!isSame(this.#index?.tools, tools)) this.#index = { tools, ready: readIndex(tools) }
      const index = await this.#index!.ready
      // A tool may have changed meanwhile, and write now.
      if (isSame(tools, this.#all())) return index
    }
  }
}

function isSame(before: readonly PublicEntry[] | undefined, now: readonly PublicEntry[]): boolean {
  return before?.length === now.length && before.every((each, at) => each.raw === now[at]!.raw)
}

const ROLES: readonly SearchRole[] = ['find', 'read', 'call']
const OURS = /^(?:find_tools|call_tool|call_read_tool)(?:_\d+)?$/

async function readIndex(tools: readonly PublicEntry[]): Promise<ToolIndex> {
  const index = new ToolIndex(tools)
  const parts = new Parts()
  for (let at = 0; at < tools.length; at++) if (parts.isDue(index.read(at))) await parts.pause()
  return index
}

async function tokensOf(tools: readonly PublicEntry[]): Promise<number> {
  const parts = new Parts()
  let tokens = 0
  for (const tool of tools) {
    if (parts.isDue(tool.raw.length)) await parts.pause()
    tokens += definitionTokens(tool)
  }
  return tokens
}

function freeNames(taken: ReadonlyMap<string, unknown>): Session['names'] {
  const free = (name: string) => {
    let own = name
    for (let next = 2; taken.has(own); next++) own = `${name}_${next}`
    return own
  }
  const { find, read, call } = SEARCH_NAMES
  return { find: free(find), read: free(read), call: free(call) }
}

/** The tools that a name or a query may mean: those with its words, or else of similar names. */
function likely(index: ToolIndex, text: string): readonly PublicEntry[] {
  const { ranked } = index.find(text)
  return ranked.length > 0 ? ranked : index.nearest(text, MOST_NEAREST)
}

function limitOf(args: JsonBytes): number {
  const raw = member(args, 'limit')
  const limit = raw == null ? LIMIT : Number(shortValue(raw))
  return Number.isInteger(limit) ? Math.min(Math.max(limit, 1), MOST_LIMIT) : LIMIT
}

/** Models write arguments as a text, too: then what the text has. */
function unwrapped(given: JsonBytes): JsonBytes {
  if (given[0] !== QUOTE) return given
  const text = JSON.parse(given.toString()) as string
  try {
    JSON.parse(text)
    return Buffer.from(text.trim())
  } catch {
    return given
  }
}

function refused(result: JsonBytes): NamedCall {
  return { kind: 'refused', result: withMember(result, 'isError', 'true') ?? result }
}

function failed(text: string): JsonBytes {
  return jsonBytes({ content: [{ type: 'text', text }], isError: true })
}
