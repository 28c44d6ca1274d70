import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { type CacheHint, type CacheHints, readHint } from './cache-hints.ts'
import {
  type Catalogue,
  LIST_KINDS,
  LISTS,
  type ListEntry,
  type ListKind,
  MAX_ENTRIES,
  readPage,
} from './catalogue.ts'
import type { GatewayOptions, ServerSettings } from './gateway-options.ts'
import { RPC_ERRORS } from './json-rpc.ts'
import { EMPTY_OBJECT, member } from './members.ts'
import type { ServerMemory } from './memory/server-memory.ts'
import { hasValidMirrors } from './mirrored-params.ts'
import { isIncluded } from './tool-patterns.ts'
import { withToolTexts } from './tool-texts.ts'
import { Backoff } from './upstream/backoff.ts'
import { hasCapability } from './upstream/capabilities.ts'
import { SYSTEM_CLOCK } from './upstream/clock.ts'
import type { ServerFacts, UpstreamConnection } from './upstream/connection.ts'

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

/** A server whose lists are read. */
export interface ListedServer {
  readonly connection: Pick<UpstreamConnection, 'call'>
  readonly settings: ServerSettings
  /** `null` before it has answered. */
  readonly facts: ServerFacts | null
  readonly memory: ServerMemory | undefined
}

export interface ServerListsOptions extends Pick<GatewayOptions, 'client' | 'onServer'> {
  readonly catalogue: Pick<Catalogue, 'set'>
  readonly hints: CacheHints
  serverOf(name: string): ListedServer
}

/** Reads what servers list into the catalogue, and tells the client of changes. */
export class ServerLists {
  readonly #options: ServerListsOptions
  readonly #dirty = new Set<ListKind>()
  #burst: NodeJS.Timeout | undefined
  #announces = false
  #isClosed = false
  /** Lists that changed and have not been read since. */
  readonly #outdated = new Set<string>()
  /** Lists that are being read, and whether they changed meanwhile. */
  readonly #reading = new Map<string, boolean>()
  /** Lists that could not be read. */
  readonly #retries = new Map<string, Backoff>()

  constructor(options: ServerListsOptions) {
    this.#options = options
  }

  /** Tells the client of changes from now on. Before, it has seen no list. */
  announce(): void {
    this.#announces = true
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#burst)
  }

  /** Whether the list is current, as far as the server has said. */
  isCurrent(name: string, kind: ListKind): boolean {
    return !this.#outdated.has(`${name} ${kind}`)
  }

  /** Reads lists of a server again; a list that cannot be read stays as it was. Never rejects. */
  async refresh(name: string, kinds: readonly ListKind[]): Promise<void> {
    for (const kind of kinds) this.#outdated.add(`${name} ${kind}`)
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
    let isRead = false
    try {
      isRead = await this.#read(name, kind)
    } finally {
      const isOutdated = this.#reading.get(place) === true
      this.#reading.delete(place)
      if (isRead && !isOutdated) this.#outdated.delete(place)
      if (isOutdated && !this.#isClosed) {
        // A server may report a change at each read.
        setTimeout(() => void this.refresh(name, [kind]), BURST_MS).unref()
      }
    }
  }

  /** @returns whether the catalogue has what the server lists now */
  async #read(name: string, kind: ListKind): Promise<boolean> {
    const { facts, memory } = this.#options.serverOf(name)
    if (facts === null || !hasCapability(facts, CAPABILITY[kind])) return true
    const pages = await this.#pages(name, kind)
    const needsMirrors = kind === 'tools' && facts.era === 'modern'
    const entries = needsMirrors
      ? (pages?.filter(({ raw }) => hasValidMirrors(raw)) ?? null)
      : pages
    if (entries === null) {
      this.#options.onServer(name, 'unlisted', { kind })
      this.#retry(name, kind)
      return false
    }
    this.#retries.delete(`${name} ${kind}`)
    for (const change of memory?.keep(kind, entries) ?? []) {
      this.#options.onServer(name, 'changed', { ...change })
    }
    if (this.#set(name, kind, entries) && this.#announces) this.#tell(kind)
    return true
  }

  /** Offers what a server listed the last time, until it answers. */
  recall(name: string): void {
    const { memory } = this.#options.serverOf(name)
    for (const kind of LIST_KINDS) {
      const entries = memory?.list(kind) ?? null
      if (entries === null) continue
      this.#outdated.add(`${name} ${kind}`)
      this.#set(name, kind, entries)
    }
  }

  /** @returns whether the list differs from the one before */
  #set(name: string, kind: ListKind, entries: readonly ListEntry[]): boolean {
    const { settings, memory } = this.#options.serverOf(name)
    const { catalogue, onServer } = this.#options
    if (kind !== 'tools') return catalogue.set(name, kind, entries)
    const included = entries.filter(({ key }) => isIncluded(key, settings))
    const offered = memory?.offered(included) ?? included
    for (const { key } of included.filter(each => !offered.includes(each))) {
      onServer(name, 'withheld', { tool: key })
    }
    const { tools, outdated } = withToolTexts(offered, settings.texts)
    for (const tool of outdated) onServer(name, 'outdated text', { tool })
    return catalogue.set(name, kind, tools)
  }

  /** Reads a list again that could not be read. Each wait is longer than the one before. */
  #retry(name: string, kind: ListKind): void {
    if (this.#isClosed) return
    const place = `${name} ${kind}`
    const retry = this.#retries.get(place) ?? new Backoff(SYSTEM_CLOCK)
    this.#retries.set(place, retry)
    setTimeout(() => {
      if (!this.#isClosed) void this.refresh(name, [kind])
    }, retry.next()).unref()
  }

  async #pages(name: string, kind: ListKind): Promise<readonly ListEntry[] | null> {
    const { connection } = this.#options.serverOf(name)
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
      if (end.kind !== 'answered') return null
      // Some servers state a capability as a whole, and lack a part of it.
      if (end.outcome.kind === 'error') return isUnknownMethod(end.outcome.error) ? [] : null
      const page = readPage(kind, end.outcome.result)
      if (page === null) return null
      for (const item of page.entries) all.push(item)
      hints.push(readHint(end.outcome.result))
      // A server may give the same cursor for ever.
      if (page.next !== null && cursor !== null && page.next.equals(cursor)) return null
      cursor = page.next
      if (++pages > MAX_PAGES) return null
    } while (cursor !== null && all.length < MAX_ENTRIES)
    this.#options.hints.set(name, kind, hints)
    return all
  }

  /** One notification for all changes of a burst. */
  #tell(kind: ListKind): void {
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

function isUnknownMethod(error: JsonBytes): boolean {
  return member(error, 'code')?.toString() === String(RPC_ERRORS.methodNotFound)
}
