import { UsageError } from '../command.ts'
import { appendJson, jsonAt } from './edit-json.ts'

/** A command that an agent calls after its tools. */
export interface AgentHook {
  /**
   * The text of the agent's file with the hook. @throws Error if it cannot be changed so that
   * nothing else changes; UsageError for a URL that a shell would not take as it is
   */
  withHook(text: string, service: string): string
  /** The service that the hook in the text of the file calls; `undefined` if there is no hook. */
  serviceIn(text: string): string | undefined
}

const COMMAND = 'haversack hook claude --url '
/** Claude Code ends a hook after so many seconds; ours ends earlier by itself. */
const TIMEOUT_S = 5
/** The tools whose outputs have a shape that is known. */
const TOOLS = 'Bash|mcp__.*'
/** A URL that a shell takes as it is. */
export const PLAIN_URL = /^[\w.:/[\]-]+$/

const PATH = ['hooks', 'PostToolUse'] as const

export const CLAUDE_HOOK: AgentHook = {
  withHook(text, service) {
    if (!PLAIN_URL.test(service)) throw new UsageError('--url has characters of a shell')
    const earlier = CLAUDE_HOOK.serviceIn(text)
    if (earlier === service) return text
    if (earlier !== undefined) throw new Error(`it has a hook for ${earlier} already`)
    const hooks = [{ type: 'command', command: COMMAND + service, timeout: TIMEOUT_S }]
    return appendJson(text, PATH, { matcher: TOOLS, hooks })
  },
  serviceIn(text) {
    const command = commandsIn(jsonAt(text, PATH)).find(each => each.startsWith(COMMAND))
    return command?.slice(COMMAND.length)
  },
}

/** The commands of the hooks of one event. */
function commandsIn(matchers: unknown): string[] {
  return membersOf(matchers, 'hooks')
    .flatMap(hooks => membersOf(hooks, 'command'))
    .filter(command => typeof command === 'string')
}

/** A member of each object in a list. */
function membersOf(list: unknown, name: string): unknown[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(each =>
    typeof each === 'object' && each !== null ? [(each as Record<string, unknown>)[name]] : [],
  )
}
