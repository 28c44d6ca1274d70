import type { GatewayOptions, ServerSettings } from '../gateway-options.ts'
import { Backoff } from '../upstream/backoff.ts'
import { SYSTEM_CLOCK } from '../upstream/clock.ts'
import { hasCapability, type ServerFacts, type UpstreamConnection } from '../upstream/connection.ts'
import type { CacheHints } from './cache-hints.ts'
import { type Catalogue, LIST_KINDS, type ListEntry, type ListKind } from './catalogue.ts'
import { mapInParts } from './lists/in-parts.ts'
import type { ListRoom } from './lists/list-room.ts'
import { readList } from './lists/read-list.ts'
import type { ServerMemory } from './memory/server-memory.ts'
import { hasValidMirrors } from './mirrored-params.ts'
import { isIncluded } from './tool-patterns.ts'

/** Changes of lists within this time are one for the client, in milliseconds. */
const BURST_MS = 250

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
  readonly room: ListRoom
  serverOf(name: string): ListedServer
}

const mayMirror = ({ raw }: ListEntry) => hasValidMirrors(raw)

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
  /** What the catalogue has, by place. */
  readonly #held = new Map<string, readonly ListEntry[]>()
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
    for (const entries of this.#held.values()) this.#options.room.leave(entries)
    this.#held.clear()
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
    const { onServer, hints } = this.#options
    const { connection } = this.#options.serverOf(name)
    const list = await readList(kind, {
      connection,
      client: this.#options.client,
      onOdd: (event, detail) => onServer(name, event, { kind, ...detail }),
    })
    if (this.#isClosed) return false
    const needsMirrors = kind === 'tools' && facts.era === 'modern'
    const listed = list?.entries
    const isMirrored = needsMirrors && listed && (await mapInParts(listed, mayMirror))
    const entries = isMirrored ? listed.filter((_, at) => isMirrored[at]) : listed
    if (this.#isClosed) return false
    const isChanged = entries === undefined ? null : this.#set(name, kind, entries)
    if (list === null || entries === undefined || isChanged === null) {
      onServer(name, 'unlisted', { kind })
      this.#retry(name, kind)
      return false
    }
    if (list.hints !== null) hints.set(name, kind, list.hints)
    this.#retries.delete(`${name} ${kind}`)
    for (const change of memory?.keep(kind, entries) ?? []) {
      onServer(name, 'changed', { ...change })
    }
    if (isChanged && this.#announces) this.#tell(kind)
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

  /** @returns whether the list differs from the one before; `null` if there is no room for it */
  #set(name: string, kind: ListKind, entries: readonly ListEntry[]): boolean | null {
    const { catalogue, room, onServer } = this.#options
    const place = `${name} ${kind}`
    const kept = room.keep(name, this.#offered(name, kind, entries))
    if (kept === null) {
      onServer(name, 'list without room', { kind })
      return null
    }
    const before = this.#held.get(place)
    this.#held.set(place, kept)
    if (before !== undefined) room.leave(before)
    return catalogue.set(name, kind, kept)
  }

  /** What clients may see of a list. */
  #offered(name: string, kind: ListKind, entries: readonly ListEntry[]): readonly ListEntry[] {
    const { settings, memory } = this.#options.serverOf(name)
    const { onServer } = this.#options
    if (kind !== 'tools') return entries
    const included = entries.filter(({ key }) => isIncluded(key, settings))
    const offered = memory?.offered(included) ?? included
    const isOffered = new Set(offered)
    for (const entry of included) {
      if (!isOffered.has(entry)) onServer(name, 'withheld', { tool: entry.key })
    }
    return offered
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
