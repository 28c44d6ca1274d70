import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { type CacheHint, CacheHints, readHint } from './cache-hints.ts'
import {
  Catalogue,
  LIST_KINDS,
  LISTS,
  type ListEntry,
  type ListKind,
  MAX_ENTRIES,
  readPage,
} from './catalogue.ts'
import type {
  ClientCall,
  GatewayOptions,
  GatewayServer,
  SendAs,
  ServerSettings,
} from './gateway-options.ts'
import { withInput } from './input-rounds.ts'
import type { Outcome } from './json-rpc.ts'
import { legacyEnd } from './legacy-results.ts'
import { EMPTY_OBJECT, member } from './members.ts'
import { hasValidMirrors } from './mirrored-params.ts'
import { isIncluded } from './tool-patterns.ts'
import type { CallEnd, ServerFacts, UpstreamConnection } from './upstream/connection.ts'

/** How long lists wait for servers that start slowly, in milliseconds. */
const START_MS = 10_000
/** Changes of lists within this time are one for the client, in milliseconds. */
const BURST_MS = 250
/** Time for one page of a list, in milliseconds. */
const PAGE_MS = 10_000

/** Pages of one list. */
const MAX_PAGES = 500

/** The capability that a server needs for a list. */
const CAPABILITY: Record<ListKind, string> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  templates: 'resources',
}

const CHANGED: Readonly<Record<string, readonly ListKind[]>> = {
  'notifications/tools/list_changed': ['tools'],
  'notifications/prompts/list_changed': ['prompts'],
  'notifications/resources/list_changed': ['resources', 'templates'],
}

interface Connected {
  readonly server: GatewayServer
  readonly connection: UpstreamConnection
  facts: ServerFacts | null
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
  #startLimit: NodeJS.Timeout | undefined
  readonly #dirty = new Set<ListKind>()
  #burst: NodeJS.Timeout | undefined
  #isReady = false
  #isClosed = false
  /** Lists that are being read, and whether they changed meanwhile. */
  readonly #reading = new Map<string, boolean>()

  constructor(options: GatewayOptions) {
    this.#options = options
    this.catalogue = new Catalogue(options.servers.map(({ name }) => name))
    for (const server of options.servers) this.#connect(server)
    const all = Promise.all([...this.#all.values()].map(({ listed }) => listed))
    const late = new Promise<void>(resolve => {
      this.#startLimit = setTimeout(resolve, START_MS)
    })
    this.#started = Promise.race([all, late]).then(() => {
      clearTimeout(this.#startLimit)
      this.#isReady = true
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

  /** Of the servers that have answered. */
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
    return [...this.#all.values()].some(({ facts }) => facts === null || has(facts, capability))
  }

  /** Whether a server asks for input inside its results. */
  isModern(name: string): boolean {
    return this.#known(name).facts?.era === 'modern'
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
    const template = this.catalogue
      .all('templates')
      .find(({ key }) => uri.startsWith(key.split('{', 1)[0] as string))
    if (template !== undefined) return template.server
    const able = [...this.#all.values()].filter(
      ({ facts }) => facts !== null && has(facts, 'resources'),
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
    const end = await withInput(params, {
      send: sent => send(sent, terms),
      ask: (name, about) => ask(name, about, signal),
      signal,
    })
    return method === 'tools/call' ? legacyEnd(end) : end
  }

  async setLogLevel(call: ClientCall): Promise<Outcome> {
    const able = [...this.#all.values()].filter(
      ({ facts }) => facts?.era === 'legacy' && has(facts, 'logging'),
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
    const outcomes = ends.flatMap(end => (end.kind === 'answered' ? end.outcome : []))
    const refused = outcomes.find(({ kind }) => kind === 'error')
    return refused ?? { kind: 'result', result: EMPTY_OBJECT }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#startLimit)
    clearTimeout(this.#burst)
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
      onConnected: facts => {
        onServer(name, 'connected', { version: facts.protocolVersion })
        const known = this.#all.get(name)
        if (known !== undefined) known.facts = facts
        this.onConnected(name)
        void this.#refresh(name, LIST_KINDS).then(first.resolve)
      },
      onLost: () => onServer(name, 'lost'),
    })
    const down = connection.facts().then(facts => {
      if (facts === null) first.resolve()
    })
    const listed = Promise.all([down, first.promise]).then(() => undefined)
    this.#all.set(name, { server, connection, facts: null, listed })
  }

  #onNotification(name: string, method: string, params: JsonBytes | null): void {
    const kinds = CHANGED[method]
    if (kinds !== undefined) void this.#refresh(name, kinds)
    else this.#options.client.notify(method, params)
  }

  /** Reads lists of a server again; a list that cannot be read stays as it was. Never rejects. */
  async #refresh(name: string, kinds: readonly ListKind[]): Promise<void> {
    try {
      await Promise.all(kinds.map(kind => this.#readInTurn(name, kind)))
    } catch (err) {
      this.#options.onServer(name, 'bug', { err })
    }
  }

  /** One read of a list at a time; what changed meanwhile is read once more after it. */
  async #readInTurn(name: string, kind: ListKind): Promise<void> {
    const place = `${name} ${kind}`
    if (this.#reading.has(place)) {
      this.#reading.set(place, true)
      return
    }
    this.#reading.set(place, false)
    try {
      await this.#read(name, kind)
    } finally {
      const isOutdated = this.#reading.get(place) === true
      this.#reading.delete(place)
      if (isOutdated && !this.#isClosed) {
        // A server may report a change at each read.
        setTimeout(() => void this.#refresh(name, [kind]), BURST_MS).unref()
      }
    }
  }

  async #read(name: string, kind: ListKind): Promise<void> {
    const { facts, server } = this.#known(name)
    if (facts === null || !has(facts, CAPABILITY[kind])) return
    const entries = await this.#pages(name, kind)
    if (entries === null) {
      this.#options.onServer(name, 'unlisted', { kind })
      return
    }
    const isOffered = ({ key, raw }: ListEntry) =>
      kind !== 'tools' ||
      (isIncluded(key, server.settings) && (facts.era === 'legacy' || hasValidMirrors(raw)))
    if (!this.catalogue.set(name, kind, entries.filter(isOffered))) return
    if (this.#isReady) this.#announce(kind)
  }

  async #pages(name: string, kind: ListKind): Promise<readonly ListEntry[] | null> {
    const connection = this.connectionOf(name)
    const all: ListEntry[] = []
    const hints: CacheHint[] = []
    let cursor: JsonBytes | null = null
    let pages = 0
    do {
      const params: JsonBytes =
        cursor === null
          ? EMPTY_OBJECT
          : Buffer.concat([Buffer.from('{"cursor":'), cursor, Buffer.from('}')])
      const end = await connection.call({
        method: LISTS[kind].method,
        params,
        signal: NEVER,
        timeoutMs: PAGE_MS,
        canRepeat: true,
        notify: () => {},
        ask: (method, params, asked) => this.#options.client.ask(method, params, asked),
      })
      if (end.kind !== 'answered' || end.outcome.kind === 'error') return null
      const page = readPage(kind, end.outcome.result)
      if (page === null) return null
      all.push(...page.entries)
      hints.push(readHint(end.outcome.result))
      // A server may give the same cursor for ever.
      if (page.next !== null && cursor !== null && page.next.equals(cursor)) return null
      cursor = page.next
      if (++pages > MAX_PAGES) return null
    } while (cursor !== null && all.length < MAX_ENTRIES)
    this.hints.set(name, kind, hints)
    return all
  }

  /** One notification for all changes of a burst. */
  #announce(kind: ListKind): void {
    this.#dirty.add(kind === 'templates' ? 'resources' : kind)
    this.#burst ??= setTimeout(() => {
      this.#burst = undefined
      for (const each of this.#dirty) {
        this.#options.client.notify(`notifications/${each}/list_changed`, null)
      }
      this.#dirty.clear()
    }, BURST_MS)
  }
}

const NEVER = new AbortController().signal

function has({ capabilities }: ServerFacts, name: string): boolean {
  const value = member(capabilities, name)
  return value !== undefined && value !== null
}
