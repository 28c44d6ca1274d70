import { z } from 'zod'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { AgentTools } from '../../core/contract/agent-tools.ts'
import { DAY_MS } from '../../core/conversation/usage/life-rules.ts'

/** A tool is recent if one of so many conversations or days called it last. */
const CONVERSATIONS = 5
const RECENT_MS = 7 * DAY_MS
/** Kinds of agents of one tenant, and tools of one kind. */
const MOST_KINDS = 64
const MOST_TOOLS = 512

const time = z.int().nonnegative()

/** Which tools one kind of agent calls. */
export const toolUseSchema = z.object({
  kind: z.number(),
  /** Its last conversations that called a tool, with the time of their first call. */
  begun: z.array(z.tuple([z.string(), time])),
  /** By tool: the time of its last call. */
  calls: z.array(z.tuple([z.string(), time])),
  dropsSearches: z.literal(true).optional(),
  isRefused: z.literal(true).optional(),
})

export type ToolUse = Readonly<z.output<typeof toolUseSchema>>

/** What one request shows of its agent. */
export type SeenUse = Pick<ToolUse, 'kind' | 'dropsSearches' | 'isRefused'> & {
  readonly conversation: string
  readonly called: readonly string[]
}

/** The use of tools that one request shows. */
export function useOf({ conversation, called, ...of }: SeenUse, now: number): ToolUse {
  const hasCalled = called.length > 0
  return {
    ...of,
    begun: hasCalled ? [[conversation, now]] : [],
    calls: called.map(name => [name, now] as [string, number]),
  }
}

/** Both together, whichever came first; what is not recent any more is left out. */
export function addToolUse(a: readonly ToolUse[], b: readonly ToolUse[]): ToolUse[] {
  const kinds = new Map(a.map(each => [each.kind, each]))
  for (const each of b) {
    const known = kinds.get(each.kind)
    kinds.set(each.kind, known === undefined ? each : joined(known, each))
  }
  return [...kinds.values()]
    .sort((x, y) => lastOf(y) - lastOf(x) || x.kind - y.kind)
    .slice(0, MOST_KINDS)
}

function joined(a: ToolUse, b: ToolUse): ToolUse {
  const begun = new Map(a.begun)
  for (const [id, at] of b.begun) begun.set(id, Math.min(at, begun.get(id) ?? at))
  const calls = new Map(a.calls)
  for (const [name, at] of b.calls) calls.set(name, Math.max(at, calls.get(name) ?? at))
  const last = latest([...begun], CONVERSATIONS)
  const use = { ...a, ...b, begun: last, calls: [...calls] }
  const isRecent = recentBy(use, Math.max(lastOf(a), lastOf(b)))
  return { ...use, calls: latest(use.calls.filter(isRecent), MOST_TOOLS) }
}

function latest(all: [string, number][], most: number): [string, number][] {
  return all.sort(([x, a], [y, b]) => b - a || (x < y ? -1 : 1)).slice(0, most)
}

function lastOf({ calls, begun }: ToolUse): number {
  return Math.max(0, calls[0]?.[1] ?? 0, begun[0]?.[1] ?? 0)
}

function recentBy({ begun }: Pick<ToolUse, 'begun'>, now: number) {
  const oldest = begun.reduce((least, [, at]) => Math.min(least, at), now)
  return ([, at]: readonly [string, number]) => at >= oldest || now - at <= RECENT_MS
}

/** What a request needs to know of its agent's tools. */
export function agentToolsOf(use: ToolUse, now: number): AgentTools {
  const { kind, begun, calls, dropsSearches, isRefused } = use
  const recent = calls.filter(recentBy(use, now)).map(([name]) => name)
  return {
    kind,
    recent: begun.length < CONVERSATIONS ? null : recent,
    ...(dropsSearches && { dropsSearches }),
    ...(isRefused && { isRefused }),
  }
}

/** How long what is known holds, in milliseconds. */
const KNOWN_MS = 60_000
const MOST_TENANTS = 10_000

interface Known {
  readonly at: number
  readonly tools: readonly AgentTools[] | undefined
}

interface WatcherOptions {
  /** @returns `null` if the accounts cannot be read now */
  read(tenant: string): Promise<readonly ToolUse[] | null>
  /** Unix milliseconds. */
  now(): number
}

/** What is known of the tools of a tenant's agents, as of some moments ago. */
export interface ToolWatcher {
  /** Returns `undefined` if nothing is known yet. */
  of(tenant: string): readonly AgentTools[] | undefined
  /** Reads it again at once. */
  forget(tenant: string): void
}

/** Reads accounts beside the requests, which never wait for it. */
export function createToolWatcher({ read, now }: WatcherOptions): ToolWatcher {
  const known = new BoundedMap<string, Known>(MOST_TENANTS)

  async function refresh(tenant: string) {
    known.set(tenant, { at: now(), tools: known.get(tenant)?.tools })
    const use = await read(tenant)
    if (use === null) return
    known.set(tenant, { at: now(), tools: use.map(each => agentToolsOf(each, now())) })
  }

  return {
    of(tenant) {
      const before = known.get(tenant)
      if (before === undefined || Math.abs(now() - before.at) > KNOWN_MS) void refresh(tenant)
      return before?.tools
    },
    forget: tenant => void refresh(tenant),
  }
}
