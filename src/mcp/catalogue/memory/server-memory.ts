import { join } from 'node:path'
import { z } from 'zod'
import { replacePrivateFile } from '../../../files/replace-file.ts'
import type { Verdict } from '../../upstream/verdicts.ts'
import { definitionHash, LIST_KINDS, type ListEntry, type ListKind } from '../catalogue.ts'
import type { Pins } from './pins.ts'
import { readJsonFile } from './private-file.ts'

/** Larger lists are not kept, in bytes of all lists of a server. */
const MAX_BYTES = 8 * 1024 * 1024

/** How long changes wait for each other before they are written, in milliseconds. */
const WRITE_MS = 100

const entry = z.object({ key: z.string(), raw: z.string() })
const kept = z.object({
  verdict: z
    .object({ era: z.enum(['modern', 'legacy']), version: z.string(), until: z.number() })
    .optional(),
  lists: z.partialRecord(z.enum(LIST_KINDS), z.array(entry)),
})

/** A tool whose definition is another one than the last time. */
export interface ChangedTool {
  readonly tool: string
  /** Hashes of both definitions. */
  readonly before: string
  readonly after: string
}

/** What is known of one server from the last time, for one tenant and credential. */
export interface ServerMemory {
  /** Which era it was of. */
  readonly verdict: Verdict | undefined
  keepVerdict(verdict: Verdict): void
  /** Its last list, of which nothing is withheld; `null` if none is known. */
  list(kind: ListKind): readonly ListEntry[] | null
  /** @returns the tools of it that are defined otherwise than the last time */
  keep(kind: ListKind, entries: readonly ListEntry[]): readonly ChangedTool[]
  /** The tools that may be offered: all, unless their definitions are pinned. */
  offered(tools: readonly ListEntry[]): readonly ListEntry[]
  /** Writes what is not written yet. */
  flush(): void
}

interface MemoryOptions {
  readonly dataDir: string
  /** Names the server, its credential and the tenant. */
  readonly id: string
  /** Absent: definitions may change. */
  readonly pins?: Pins
  /** What could not be written is known to this process alone. */
  onFailure(error: unknown): void
}

export function openServerMemory({ dataDir, id, pins, onFailure }: MemoryOptions): ServerMemory {
  const file = join(dataDir, 'mcp-servers', `${id}.json`)
  const found = kept.safeParse(readJsonFile(file)).data
  let verdict = found?.verdict
  const lists = new Map<ListKind, readonly ListEntry[]>()
  for (const kind of LIST_KINDS) {
    const list = found?.lists[kind]
    if (list === undefined) continue
    lists.set(
      kind,
      list.map(({ key, raw }) => ({ key, raw: Buffer.from(raw) })),
    )
  }
  let writing: NodeJS.Timeout | undefined

  function write(): void {
    clearTimeout(writing)
    writing = undefined
    const texts = [...lists].map(([kind, list]) => [
      kind,
      list.map(({ key, raw }) => ({ key, raw: raw.toString() })),
    ])
    const text = JSON.stringify({ verdict, lists: Object.fromEntries(texts) })
    if (text.length > MAX_BYTES) return
    try {
      replacePrivateFile(file, text)
    } catch (error) {
      onFailure(error)
    }
  }

  function writeSoon(): void {
    writing ??= setTimeout(write, WRITE_MS).unref()
  }

  return {
    get verdict() {
      return verdict
    },
    keepVerdict(next) {
      verdict = next
      writeSoon()
    },
    list: kind => lists.get(kind) ?? null,
    keep(kind, entries) {
      const before = lists.get(kind)
      const isSame =
        before?.length === entries.length &&
        before.every((each, i) => each.raw.equals(entries[i]!.raw))
      if (isSame) return []
      lists.set(kind, entries)
      writeSoon()
      return kind === 'tools' && before !== undefined ? changesOf(before, entries) : []
    },
    offered(tools) {
      if (pins === undefined) return tools
      try {
        return pins.accepted(tools)
      } catch (error) {
        onFailure(error)
        return []
      }
    },
    flush() {
      if (writing !== undefined) write()
    },
  }
}

function changesOf(before: readonly ListEntry[], after: readonly ListEntry[]): ChangedTool[] {
  const known = new Map(before.map(each => [each.key, definitionHash(each)]))
  return after.flatMap(each => {
    const earlier = known.get(each.key)
    const own = definitionHash(each)
    return earlier === undefined || earlier === own
      ? []
      : [{ tool: each.key, before: earlier, after: own }]
  })
}
