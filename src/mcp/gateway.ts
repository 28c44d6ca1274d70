import { RETRIEVE_TOOL } from '../core/contract/retrieve-tool.ts'
import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import type { CacheHint } from './catalogue/cache-hints.ts'
import {
  LIST_KINDS,
  LISTS,
  type ListKind,
  type PublicEntry,
  publicEntry,
} from './catalogue/catalogue.ts'
import { mapInParts } from './catalogue/lists/in-parts.ts'
import { ResourceWatches } from './client/resource-watches.ts'
import { ToolCalls } from './client/tool-calls.ts'
import type { ClientCall, GatewayOptions } from './gateway-options.ts'
import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from './json-rpc.ts'
import {
  allMembers,
  EMPTY_OBJECT,
  member,
  objectMember,
  textMember,
  withMember,
} from './members.ts'
import { failureError } from './results/call-failures.ts'
import { describesOtherValues } from './results/legacy-results.ts'
import { escapedTerms, resourceTerms } from './results/result-terms.ts'
import { RETRIEVE_DEFINITION } from './results/retrieve-tool.ts'
import { Servers } from './servers.ts'

/**
 * One client's view of all servers. Results of our own are in the words of the revisions before
 * 2026-07-28.
 */
export interface Gateway {
  /** Resolves when all servers have answered or failed, at the latest after `limitMs`. */
  ready(limitMs: number): Promise<void>
  /** The `capabilities` of an answer to `initialize`. */
  capabilities(): JsonBytes
  /** What the servers state for the model, and the legend; `null` if nothing. */
  instructions(): string | null
  /** Never rejects. */
  handle(call: ClientCall): Promise<Outcome>
  /** Sends a request to one server, unchanged. Never rejects. */
  forward(call: ClientCall, server: string): Promise<Outcome>
  /** The definition of a tool, once lists are known; `null` if there is none. */
  definitionOf(tool: string): Promise<JsonBytes | null>
  /** How long clients may keep a list. */
  hintOf(kind: ListKind): CacheHint
  /**
   * A notification of the client: for all servers, or for us.
   * @param context that it names; `null`: none
   */
  notified(method: string, params: JsonBytes | null, context: string | null): void
  close(): Promise<void>
}

/** Entries of a page of ours. */
const PAGE = 200

export function createGateway(options: GatewayOptions): Gateway {
  return new ClientGateway(options)
}

class ClientGateway implements Gateway {
  readonly #options: GatewayOptions
  readonly #servers: Servers
  readonly #tools: ToolCalls
  readonly #watches: ResourceWatches

  constructor(options: GatewayOptions) {
    this.#options = options
    const { client } = options
    const notify: typeof client.notify = (method, params) => {
      // A new list costs the provider's cache: only for a change that the client can see.
      if (method === TOOLS_CHANGED && this.#tools.search?.isListStale() === false) return
      client.notify(method, params)
    }
    this.#servers = new Servers({ ...options, client: { ...client, notify } })
    this.#tools = new ToolCalls(options, this.#servers)
    this.#watches = new ResourceWatches({
      ownerOf: uri => this.#servers.ownerOf(uri),
      connectionOf: server => this.#servers.connectionOf(server),
      isModern: server => this.#servers.isModern(server),
      timeoutMs: server => this.#servers.settingsOf(server).timeout_ms,
      notify: (method, params) => options.client.notify(method, params),
    })
    this.#servers.onConnected = server => this.#watches.connected(server)
  }

  ready(limitMs: number): Promise<void> {
    return this.#servers.ready(limitMs)
  }

  capabilities(): JsonBytes {
    const has = (name: string) => this.#servers.mayHave(name)
    const own = jsonBytes({
      ...(has('tools') || this.#tools.offersRetrieve() ? { tools: { listChanged: true } } : {}),
      ...(has('prompts') ? { prompts: { listChanged: true } } : {}),
      ...(has('resources') ? { resources: { subscribe: true, listChanged: true } } : {}),
      ...(has('logging') ? { logging: {} } : {}),
      ...(has('completions') ? { completions: {} } : {}),
    })
    const extensions = sharedExtensions(
      this.#options.client.capabilities,
      this.#servers.capabilities(),
    )
    return extensions === null ? own : (withMember(own, 'extensions', extensions) ?? own)
  }

  instructions(): string | null {
    const stated = this.#servers.instructions()
    const { legend } = this.#options
    if (legend === undefined) return stated
    return stated === null ? legend : `${stated}\n\n${legend}`
  }

  async handle(call: ClientCall): Promise<Outcome> {
    try {
      return await this.#route(call)
    } catch (err) {
      this.#options.onServer('', 'bug', { err })
      return errorOutcome(RPC_ERRORS.internal, 'an unexpected error; it was logged')
    }
  }

  notified(method: string, params: JsonBytes | null, context: string | null): void {
    if (COMPACTED.test(method)) this.#tools.compacted(context)
    else this.#servers.notifyAll(method, params)
  }

  async forward(call: ClientCall, server: string): Promise<Outcome> {
    if (!this.#servers.has(server)) {
      return errorOutcome(RPC_ERRORS.invalidParams, 'its server is not configured any more')
    }
    return this.#forward(call, server, call.params ?? EMPTY_OBJECT)
  }

  async definitionOf(tool: string): Promise<JsonBytes | null> {
    await this.#servers.listed()
    return this.#servers.catalogue.find('tools', tool)?.raw ?? null
  }

  hintOf(kind: ListKind): CacheHint {
    return this.#servers.hints.of(kind)
  }

  async close(): Promise<void> {
    this.#watches.close()
    await this.#tools.close()
    await this.#servers.close()
  }

  #route(call: ClientCall): Promise<Outcome> | Outcome {
    const kind = LIST_KINDS.find(each => LISTS[each].method === call.method)
    if (kind !== undefined) return this.#list(kind, call)
    switch (call.method) {
      case 'ping':
        return { kind: 'result', result: EMPTY_OBJECT }
      case 'tools/call':
        return this.#tools.call(call)
      case 'prompts/get':
        return this.#forwardNamed(call, 'prompts')
      case 'resources/read':
        return this.#readResource(call)
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#watch(call)
      case 'completion/complete':
        return this.#complete(call)
      case 'logging/setLevel':
        return this.#servers.setLogLevel(call)
      default:
        return errorOutcome(RPC_ERRORS.methodNotFound, `no method ${call.method}`)
    }
  }

  /** Answers from memory. */
  async #list(kind: ListKind, { params, context }: ClientCall): Promise<Outcome> {
    await this.#servers.listed()
    const listing = kind === 'tools' ? await this.#tools.search?.listing() : undefined
    const offersOurs = kind === 'tools' && this.#tools.offersRetrieve(context)
    const ours = new Map(kind === 'tools' ? this.#tools.composedDefinitions() : [])
    if (offersOurs) ours.set(RETRIEVE_TOOL, RETRIEVE_DEFINITION)
    for (const [name, definition] of listing?.definitions ?? []) ours.set(name, definition)
    const entries = this.#servers.catalogue
      .all(kind)
      .filter(entry => !ours.has(entry.publicKey) && listing?.has(entry) !== false)
    const count = entries.length + ours.size
    const start = pageStart(params)
    if (start === null || start > count) {
      return errorOutcome(RPC_ERRORS.invalidParams, 'an unknown cursor')
    }
    const theirs = entries.slice(start, start + PAGE)
    const page = await mapInParts(theirs, entry => this.#shown(kind, entry))
    const before = Math.max(0, start - entries.length)
    for (const own of [...ours.values()].slice(before, before + PAGE - page.length)) page.push(own)
    const list = page.flatMap((raw, i) => (i === 0 ? [raw] : [COMMA, raw]))
    const next = start + PAGE < count ? `],"nextCursor":"${start + PAGE}"}` : ']}'
    const head = `{"${LISTS[kind].member}":[`
    return {
      kind: 'result',
      result: Buffer.concat([Buffer.from(head), ...list, Buffer.from(next)]),
    }
  }

  #shown(kind: ListKind, entry: PublicEntry): JsonBytes {
    const dropsOutputSchema =
      kind === 'tools' &&
      (this.#tools.structuredOf(entry) === 'text' ||
        (this.#options.client.isModern !== true && describesOtherValues(entry.raw)))
    return publicEntry(kind, entry, { dropsOutputSchema })
  }

  async #forwardNamed(call: ClientCall, kind: 'prompts'): Promise<Outcome> {
    const params = call.params ?? EMPTY_OBJECT
    const name = textMember(params, 'name')
    await this.#servers.listed()
    const entry = name === null ? undefined : this.#servers.catalogue.find(kind, name)
    const named = entry && withMember(params, 'name', JSON.stringify(entry.key))
    if (entry === undefined || named === undefined || named === null) {
      return errorOutcome(RPC_ERRORS.invalidParams, `Unknown prompt: ${name}`)
    }
    return this.#escaped(await this.#forward(call, entry.server, named), entry.server)
  }

  /** An answer whose texts are for the model: nothing in it looks like a hint of ours. */
  async #escaped(outcome: Outcome, server: string): Promise<Outcome> {
    if (outcome.kind === 'error') return outcome
    const result = await this.#options.pack(outcome.result, escapedTerms(server), server)
    return { kind: 'result', result }
  }

  async #readResource(call: ClientCall): Promise<Outcome> {
    const outcome = await this.#forwardByUri(call)
    if (outcome.kind === 'error') return outcome
    const uri = textMember(call.params ?? EMPTY_OBJECT, 'uri') as string
    const server = this.#servers.ownerOf(uri)
    if (server === null) return outcome
    const isEncoded = this.#servers.settingsOf(server).resources
    const terms = isEncoded ? resourceTerms(server) : escapedTerms(server)
    return { kind: 'result', result: await this.#options.pack(outcome.result, terms, server) }
  }

  async #forwardByUri(call: ClientCall): Promise<Outcome> {
    const params = call.params ?? EMPTY_OBJECT
    const uri = textMember(params, 'uri')
    await this.#servers.listed()
    const server = uri === null ? null : this.#servers.ownerOf(uri)
    if (server === null) return errorOutcome(RESOURCE_NOT_FOUND, 'Resource not found', { uri })
    return this.#forward(call, server, params)
  }

  async #watch(call: ClientCall): Promise<Outcome> {
    const uri = textMember(call.params ?? EMPTY_OBJECT, 'uri')
    if (uri === null) return errorOutcome(RPC_ERRORS.invalidParams, 'a uri is wanted')
    await this.#servers.listed()
    return call.method === 'resources/subscribe'
      ? this.#watches.subscribe(uri, call)
      : this.#watches.unsubscribe(uri, call)
  }

  /** The reference of a completion names a prompt, or a resource by its template. */
  async #complete(call: ClientCall): Promise<Outcome> {
    const params = call.params ?? EMPTY_OBJECT
    const ref = objectMember(params, 'ref')
    if (ref === null) {
      return errorOutcome(RPC_ERRORS.invalidParams, 'a completion needs a ref')
    }
    await this.#servers.listed()
    const { catalogue } = this.#servers
    if (textMember(ref, 'type') === 'ref/resource') {
      const uri = textMember(ref, 'uri') ?? ''
      const server = catalogue.find('templates', uri)?.server ?? this.#servers.ownerOf(uri)
      if (server === null) return errorOutcome(RPC_ERRORS.invalidParams, `Unknown resource: ${uri}`)
      return this.#forward(call, server, params)
    }
    const name = textMember(ref, 'name')
    const entry = name === null ? undefined : catalogue.find('prompts', name)
    const named = entry && withMember(ref, 'name', JSON.stringify(entry.key))
    const sent = named && withMember(params, 'ref', named)
    if (entry === undefined || sent === undefined || sent === null) {
      return errorOutcome(RPC_ERRORS.invalidParams, `Unknown prompt: ${name}`)
    }
    return this.#forward(call, entry.server, sent)
  }

  async #forward(call: ClientCall, server: string, params: JsonBytes): Promise<Outcome> {
    const end = await this.#servers.send(call, { server, params, canRepeat: true })
    return end.kind === 'answered' ? end.outcome : failureError(server, end)
  }
}

const COMMA = Buffer.from(',')

const TOOLS_CHANGED = 'notifications/tools/list_changed'

/** Extensions that a client may name; there are a handful. */
const MOST_EXTENSIONS = 32

/** The notification of a client that has compacted a conversation; it is in no revision. */
const COMPACTED = /^notifications\/(?:\S+\/)?compact(?:ed|ion)\b/

/** The code of the revisions before 2026-07-28. */
const RESOURCE_NOT_FOUND = -32002

/** Where a page begins; `null` for a cursor that is none of ours. */
function pageStart(params: JsonBytes | null): number | null {
  const cursor = params === null ? undefined : member(params, 'cursor')
  if (cursor === undefined) return 0
  const digits = cursor === null ? undefined : /^"(\d{1,6})"$/.exec(cursor.toString('latin1'))?.[1]
  return digits === undefined ? null : Number(digits)
}

/**
 * The extensions that a client and a server both name, with what the first server says of each.
 * @param client capabilities: a JSON object
 * @returns a JSON object; `null` if there are none
 */
function sharedExtensions(client: JsonBytes, servers: readonly JsonBytes[]): JsonBytes | null {
  const named = objectMember(client, 'extensions')
  if (named === null) return null
  const found: JsonBytes[] = []
  for (const name of [...(allMembers(named, 8 * MOST_EXTENSIONS)?.keys() ?? [])].slice(
    0,
    MOST_EXTENSIONS,
  )) {
    const settings = servers
      .map(capabilities => objectMember(capabilities, 'extensions'))
      .map(extensions => extensions && objectMember(extensions, name))
      .find(each => each !== null)
    if (settings == null) continue
    found.push(Buffer.from(`${found.length === 0 ? '' : ','}${JSON.stringify(name)}:`), settings)
  }
  if (found.length === 0) return null
  return Buffer.concat([Buffer.from('{'), ...found, Buffer.from('}')])
}
