import { createHash, hash } from 'node:crypto'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { withMember, withoutMember } from '../members.ts'

/** What servers list. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'templates'

export const LIST_KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources', 'templates']

/** The request for each list, the member of its result, and what names an entry. */
export const LISTS = {
  tools: { method: 'tools/list', member: 'tools', key: 'name' },
  prompts: { method: 'prompts/list', member: 'prompts', key: 'name' },
  resources: { method: 'resources/list', member: 'resources', key: 'uri' },
  templates: {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
  },
} as const satisfies Record<ListKind, { method: string; member: string; key: string }>

/** One entry of a list, as its server wrote it. */
export interface ListEntry {
  /** Its name, or its URI. */
  readonly key: string
  readonly raw: JsonBytes
}

/** An entry under the name that clients know. */
export interface PublicEntry extends ListEntry {
  readonly server: string
  readonly publicKey: string
}

/** Most entries of one answer, and of all servers together: each has its share of them. */
export const MAX_ENTRIES = 20_000

/**
 * What all servers list, under the names that clients know, and sorted by them, so that the bytes
 * stay the same as long as no server changes. Of two entries with one name or URI the first in the
 * order of the servers is offered.
 */
export class Catalogue {
  readonly #servers: readonly string[]
  readonly #entries = new Map<string, readonly ListEntry[]>()
  readonly #merged = new Map<ListKind, ReadonlyMap<string, PublicEntry>>()
  #ownTools: ReadonlyMap<string, PublicEntry> | null = null

  /** @param servers their names, in the order of the configuration */
  constructor(servers: readonly string[]) {
    this.#servers = servers
  }

  /** @returns whether the list differs from the one before */
  set(server: string, kind: ListKind, entries: readonly ListEntry[]): boolean {
    const place = `${server} ${kind}`
    const before = this.#entries.get(place) ?? []
    const isSame =
      before.length === entries.length &&
      before.every((each, i) => each.raw.equals(entries[i]!.raw))
    if (isSame) return false
    this.#entries.set(place, entries)
    this.#merged.delete(kind)
    this.#ownTools = null
    return true
  }

  all(kind: ListKind): readonly PublicEntry[] {
    return [...this.#of(kind).values()]
  }

  find(kind: ListKind, publicKey: string): PublicEntry | undefined {
    return this.#of(kind).get(publicKey)
  }

  /** The tool of a server that clients can call, by the server's own name for it. */
  ownTool(server: string, key: string): PublicEntry | undefined {
    this.#ownTools ??= new Map(
      this.all('tools').map(entry => [JSON.stringify([entry.server, entry.key]), entry]),
    )
    return this.#ownTools.get(JSON.stringify([server, key]))
  }

  /** Entries of a server that are hidden by another one of the same name. */
  #of(kind: ListKind): ReadonlyMap<string, PublicEntry> {
    const known = this.#merged.get(kind)
    if (known !== undefined) return known
    const isNamed = LISTS[kind].key === 'name'
    const prefixes = this.#servers.length > 1
    const found = new Map<string, PublicEntry>()
    const share = Math.floor(MAX_ENTRIES / this.#servers.length)
    for (const server of this.#servers) {
      const entries = this.#entries.get(`${server} ${kind}`) ?? []
      for (const entry of entries.slice(0, share)) {
        const publicKey = isNamed ? publicName(prefixes ? server : null, entry.key) : entry.key
        if (found.has(publicKey)) continue
        found.set(publicKey, { ...entry, server, publicKey })
      }
    }
    const sorted = new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
    this.#merged.set(kind, sorted)
    return sorted
  }
}

/** An entry as clients see it. */
export function publicEntry(
  kind: ListKind,
  entry: PublicEntry,
  { dropsOutputSchema }: { readonly dropsOutputSchema: boolean },
): JsonBytes {
  if (LISTS[kind].key !== 'name') return entry.raw
  const named =
    entry.publicKey === entry.key
      ? entry.raw
      : (withMember(entry.raw, 'name', JSON.stringify(entry.publicKey)) ?? entry.raw)
  return dropsOutputSchema ? (withoutMember(named, 'outputSchema') ?? named) : named
}

/**
 * Longest name that is offered to clients. Cursor counts 60 with its own prefix, others 64; longer
 * names vanish there or break a session.
 */
const MAX_BYTES = 44
/** Hexadecimal digits of the hash that makes a cut name unlike any other. */
const HASH_DIGITS = 6

/**
 * The name by which a tool or prompt of a server is offered: `{server}__{name}`, or the bare name
 * if there is one server. A name that clients would not take is spelt in `[A-Za-z0-9_-]`, cut, and
 * ends with six digits of its SHA-256.
 * @param server `null` if there is one server
 */
export function publicName(server: string | null, name: string): string {
  const whole = server === null ? name : `${server}__${name}`
  const spelt = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (spelt === whole && whole.length <= MAX_BYTES && whole !== '') return whole
  const digits = createHash('sha256').update(whole).digest('hex').slice(0, HASH_DIGITS)
  return `${spelt.slice(0, MAX_BYTES - HASH_DIGITS - 1)}_${digits}`
}

/** What tells two definitions of a tool apart: SHA-256 of its bytes, 16 hex digits. */
export function definitionHash({ raw }: ListEntry): string {
  return hash('sha256', raw, 'hex').slice(0, 16)
}
