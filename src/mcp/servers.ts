import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { QUOTE } from '../core/json/char-codes.ts'
import { CacheHints } from './catalogue/cache-hints.ts'
import { Catalogue, LIST_KINDS, type ListKind } from './catalogue/catalogue.ts'
import { ListRoom } from './catalogue/lists/list-room.ts'
import { ServerLists } from './catalogue/server-lists.ts'
import { literalChars, matchesTemplate } from './catalogue/uri-template.ts'
import { withInput } from './client/input-rounds.ts'
import type {
  ClientCall,
  GatewayOptions,
  GatewayServer,
  SendAs,
  ServerSettings,
} from './gateway-options.ts'
import type { Outcome } from './json-rpc.ts'
import { EMPTY_OBJECT, member, withMember } from './members.ts'
import { legacyEnd } from './results/legacy-results.ts'
import {
  type CallEnd,
  hasCapability,
  type ServerFacts,
  type UpstreamConnection,
} from './upstream/connection.ts'
import { META } from './upstream/envelope.ts'

/** How long lists wait for servers that start slowly, in milliseconds. */
const START_MS = 10_000
const CHANGED: Readonly<Record<string, readonly ListKind[]>> = {
  'notifications/tools/list_changed': ['tools'],
  'notifications/prompts/list_changed': ['prompts'],
  'notifications/resources/list_changed': ['resources', 'templates'],
}

const UPDATED = 'notifications/resources/updated'

interface Connected {
  readonly server: GatewayServer
  readonly connection: UpstreamConnection
  facts: ServerFacts | null
  isUp: boolean
  /** Settled once its lists are known for the first time, or it is down. */
  readonly listed: Promise<void>
}

/** A call of a client as one server gets it. */
interface ServerCall {
  readonly server: string
  readonly params: JsonBytes
  /** Whether it may be sent again if its connection dies before any byte came. */
  readonly canRepeat: boolean
  /** Headers that repeat parameters, for servers that want them. */
  readonly mirrored?: Readonly<Record<string, string>>
}

/** The connections of one client, and what their servers list. */
export class Servers {
  readonly catalogue: Catalogue
  readonly hints = new CacheHints()
  /** Called when a server is connected, for the first time or again. */
  onConnected: (name: string) => void = () => {}
  readonly #options: GatewayOptions
  readonly #all = new Map<string, Connected>()
  readonly #started: Promise<void>
  /** What the client has set; a JSON string. */
  #logLevel: JsonBytes | null = null
  #startLimit: NodeJS.Timeout | undefined
  readonly #lists: ServerLists
  /** Called if what a server answered before may not hold any more. */
  onStale: (server: string) => void = () => {}

  constructor(options: GatewayOptions) {
    this.#options = options
    this.catalogue = new Catalogue(options.servers.map(({ name }) => name))
    const { client, onServer } = options
    const serverOf = (name: string) => {
      const { connection, facts, server } = this.#known(name)
      return { connection, facts, settings: server.settings, memory: server.memory }
    }
    const { catalogue, hints } = this
    const { room = new ListRoom() } = options
    this.#lists = new ServerLists({ catalogue, hints, room, client, onServer, serverOf })
    for (const server of options.servers) this.#connect(server)
    const all = Promise.all([...this.#all.values()].map(({ listed }) => listed))
    const late = new Promise<void>(resolve => {
      this.#startLimit = setTimeout(resolve, START_MS)
    })
    this.#started = Promise.race([all, late]).then(() => {
      clearTimeout(this.#startLimit)
      for (const [name, { facts }] of this.#all) if (facts === null) this.#lists.recall(name)
      this.#lists.announce()
    })
  }

  async ready(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>(resolve => {
      timer = setTimeout(resolve, limitMs)
    })
    await Promise.race([this.#started, limit])
    clearTimeout(timer)
  }

  /** Resolves when all lists are known, or their servers had time enough. */
  listed(): Promise<void> {
    return this.#started
  }

  has(name: string): boolean {
    return this.#all.has(name)
  }

  /** Capabilities of the servers that have answered. */
  capabilities(): readonly JsonBytes[] {
    return [...this.#all.values()].flatMap(({ facts }) => facts?.capabilities ?? [])
  }

  settingsOf(name: string): ServerSettings {
    return this.#known(name).server.settings
  }

  connectionOf(name: string): UpstreamConnection {
    return this.#known(name).connection
  }

  /** Whether a server has a capability, or may have it because it has not answered yet. */
  mayHave(capability: string): boolean {
    return [...this.#all.values()].some(
      ({ facts }) => facts === null || hasCapability(facts, capability),
    )
  }

  /** Whether a server asks for input inside its results. */
  isModern(name: string): boolean {
    return this.#known(name).facts?.era === 'modern'
  }

  /** Whether a server is connected, and what it lists is known. */
  isCurrent(name: string): boolean {
    return this.#known(name).isUp && this.#lists.isCurrent(name, 'tools')
  }

  instructions(): string | null {
    const texts = [...this.#all.values()].flatMap(({ server, facts }) =>
      facts?.instructions ? [{ name: server.name, text: facts.instructions }] : [],
    )
    if (texts.length === 0) return null
    if (this.#all.size === 1) return texts[0]!.text
    return texts.map(({ name, text }) => `# ${name}\n${text}`).join('\n\n')
  }

  /** The server that lists this resource or a template that may name it; `null` if none does. */
  ownerOf(uri: string): string | null {
    const listed = this.catalogue.find('resources', uri)
    if (listed !== undefined) return listed.server
    const [template] = this.catalogue
      .all('templates')
      .filter(({ key }) => matchesTemplate(key, uri))
      .sort((a, b) => literalChars(b.key) - literalChars(a.key))
    if (template !== undefined) return template.server
    const able = [...this.#all.values()].filter(
      ({ facts }) => facts !== null && hasCapability(facts, 'resources'),
    )
    return able.length === 1 ? able[0]!.server.name : null
  }

  notifyAll(method: string, params: JsonBytes | null): void {
    for (const { connection } of this.#all.values()) connection.notify(method, params)
  }

  /** Sends a call of the client to a server, and plays the rounds of input that it asks for. */
  async send(call: ClientCall, { server, params, ...rest }: ServerCall): Promise<CallEnd> {
    const { timeout_ms: timeoutMs } = this.settingsOf(server)
    const { method, signal } = call
    const isModern = this.isModern(server)
    const send: SendAs = (sent, terms) =>
      this.connectionOf(server).call({ method, params: sent, ...rest, ...terms })
    if (call.rounds !== undefined) {
      return call.rounds({ server, isModern, method, params, timeoutMs }, send)
    }
    const ask: ClientCall['ask'] = (name, about, asked) => call.ask(name, about, asked)
    const notify: ClientCall['notify'] = (name, about) => call.notify(name, about)
    const terms = { signal, timeoutMs, ask, notify }
    if (!isModern) return send(params, terms)
    const end = await withInput(withLogLevel(params, this.#logLevel), {
      send: sent => send(sent, terms),
      ask: (name, about) => ask(name, about, signal),
      signal,
    })
    return method === 'tools/call' ? legacyEnd(end) : end
  }

  async setLogLevel(call: ClientCall): Promise<Outcome> {
    const level = call.params === null ? null : member(call.params, 'level')
    this.#logLevel = level?.[0] === QUOTE ? level : null
    const able = [...this.#all.values()].filter(
      ({ facts }) => facts?.era === 'legacy' && hasCapability(facts, 'logging'),
    )
    const ends = await Promise.all(
      able.map(({ connection, server }) =>
        connection.call({
          method: call.method,
          params: call.params,
          signal: call.signal,
          timeoutMs: server.settings.timeout_ms,
          canRepeat: true,
          notify: call.notify,
          ask: (method, params, asked) => call.ask(method, params, asked),
        }),
      ),
    )
    for (const end of ends) {
      if (end.kind === 'answered' && end.outcome.kind === 'error') return end.outcome
    }
    return { kind: 'result', result: EMPTY_OBJECT }
  }

  async close(): Promise<void> {
    clearTimeout(this.#startLimit)
    this.#lists.close()
    for (const { server } of this.#all.values()) server.memory?.flush()
    await Promise.all([...this.#all.values()].map(({ connection }) => connection.close()))
  }

  #known(name: string): Connected {
    const known = this.#all.get(name)
    if (known === undefined) throw new Error(`no server ${name}`)
    return known
  }

  #connect(server: GatewayServer): void {
    const { client, onServer } = this.#options
    const { name } = server
    const first = Promise.withResolvers<void>()
    const connection = server.connect(client, {
      onNotification: (method, params) => this.#onNotification(name, method, params),
      onRequest: (method, params, signal) => client.ask(method, params, signal),
      isListening: () => client.isListening?.() ?? false,
      onConnected: facts => {
        onServer(name, 'connected', { version: facts.protocolVersion })
        const known = this.#all.get(name)
        if (known !== undefined) Object.assign(known, { facts, isUp: true })
        this.onConnected(name)
        void this.#lists.refresh(name, LIST_KINDS).then(first.resolve)
      },
      onLost: () => {
        const known = this.#all.get(name)
        if (known !== undefined) known.isUp = false
        this.onStale(name)
        onServer(name, 'lost')
      },
    })
    const down = connection.facts().then(facts => {
      if (facts === null) first.resolve()
    })
    const listed = Promise.all([down, first.promise]).then(() => undefined)
    this.#all.set(name, { server, connection, facts: null, isUp: false, listed })
  }

  #onNotification(name: string, method: string, params: JsonBytes | null): void {
    const kinds = CHANGED[method]
    if (kinds !== undefined || method === UPDATED) this.onStale(name)
    if (kinds !== undefined) void this.#lists.refresh(name, kinds)
    else this.#options.client.notify(method, params)
  }
}

/**
 * Parameters for a modern server, which sends logs of a request only if the request states a level.
 * @param level what the client has set for all requests, a JSON string; `null`: nothing
 */
function withLogLevel(params: JsonBytes, level: JsonBytes | null): JsonBytes {
  const meta = level === null ? null : (member(params, '_meta') ?? EMPTY_OBJECT)
  if (level === null || meta === null || member(meta, META.logLevel) !== undefined) return params
  const levelled = withMember(meta, META.logLevel, level)
  return (levelled && withMember(params, '_meta', levelled)) ?? params
}
