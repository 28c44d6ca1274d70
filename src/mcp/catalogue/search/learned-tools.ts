import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { replacePrivateFile } from '../../../files/replace-file.ts'
import { readJsonFile } from '../memory/private-file.ts'

/** A tool is forgotten after so many sessions and days without a call; both must have passed. */
const SESSIONS = 5
const DAYS = 7
const DAY_MS = 24 * 60 * 60 * 1000

const MOST_TOOLS = 1_000
/** Clients of one key; their names are their own. */
const MOST_CLIENTS = 16
const MOST_NAME = 128

const kept = z.record(
  z.string(),
  z.object({
    /** How many sessions have called tools. */
    sessions: z.int().nonnegative(),
    /** By tool: the session and the day of its last call. */
    tools: z.record(z.string(), z.tuple([z.int(), z.int()])),
  }),
)

/** Which tools one client called in its last sessions. */
export interface LearnedTools {
  /** The tools of its last five sessions or seven days, the latest first. Never throws. */
  recent(): readonly string[]
  /** Begins a session. The function notes a call of it. Never throws. */
  begin(): (tool: string) => void
}

interface LearnedOptions {
  readonly dataDir: string
  readonly tenant: string
  /** Its key; `null` if it has none. */
  readonly credential: string | null
  /** `clientInfo.name`. */
  readonly client: string
  readonly now: () => number
  onFailure(error: unknown): void
}

/** What was learned of a tenant's clients. */
export function learnedFolder(dataDir: string, tenant: string): string {
  return join(dataDir, 'mcp-learned', digest(tenant))
}

export function openLearnedTools(options: LearnedOptions): LearnedTools {
  const { dataDir, tenant, credential, now, onFailure } = options
  const client = options.client.slice(0, MOST_NAME)
  const file = join(learnedFolder(dataDir, tenant), `${digest(credential ?? '')}.json`)
  const today = () => Math.floor(now() / DAY_MS)
  // Read each time: another session may have written.
  const read = () => new Map(Object.entries(kept.safeParse(readJsonFile(file)).data ?? {}))

  function recentOf({ sessions, tools }: z.output<typeof kept>[string]) {
    return Object.entries(tools)
      .filter(([, [session, day]]) => sessions - session < SESSIONS || today() - day <= DAYS)
      .sort(([a, [inA]], [b, [inB]]) => inB - inA || (a < b ? -1 : 1))
      .slice(0, MOST_TOOLS)
  }

  return {
    recent() {
      const known = read().get(client)
      return known === undefined ? [] : recentOf(known).map(([tool]) => tool)
    },
    begin() {
      const noted = new Set<string>()
      let session: number | null = null
      return tool => {
        if (noted.has(tool)) return
        noted.add(tool)
        try {
          const all = read()
          const { sessions = 0, tools = {} } = all.get(client) ?? {}
          session ??= sessions + 1
          const next = {
            sessions: Math.max(sessions, session),
            tools: { ...tools, [tool]: [session, today()] satisfies [number, number] },
          }
          all.delete(client)
          all.set(client, { ...next, tools: Object.fromEntries(recentOf(next)) })
          const clients = [...all].slice(-MOST_CLIENTS)
          replacePrivateFile(file, JSON.stringify(Object.fromEntries(clients)))
        } catch (error) {
          onFailure(error)
        }
      }
    },
  }
}

function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32)
}
