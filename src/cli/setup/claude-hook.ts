import { UsageError } from '../../console/command.ts'
import { ownProgramInShell } from '../../runtime/installation.ts'
import { appendJson, jsonAt } from './edit-json.ts'
import { readCommand, type WrittenCommand, writeCommand } from './written-command.ts'

/** A command that an agent calls after its tools. */
export interface AgentHook {
  /**
   * The text of the agent's file with the hook. @throws Error if it cannot be changed so that
   * nothing else changes; UsageError for a URL that a shell would not take as it is
   * @param program starts us, as a shell reads it; this installation if absent
   */
  withHook(text: string, service: string, program?: string): string
  /** The hook in the text of the file; `undefined` if there is none. */
  commandIn(text: string): WrittenCommand | undefined
}

const CALL = 'hook claude --url'
/** Claude Code ends a hook after so many seconds; ours ends earlier by itself. */
const TIMEOUT_S = 5
/** The tools whose outputs have a shape that is known. */
const TOOLS = 'Bash|mcp__.*'
/** A URL that a shell takes as it is. */
export const PLAIN_URL = /^[\w.:/[\]-]+$/

const PATH = ['hooks', 'PostToolUse'] as const

export const CLAUDE_HOOK: AgentHook = {
  withHook(text, service, program = ownProgramInShell()) {
    if (!PLAIN_URL.test(service)) throw new UsageError('--url has characters of a shell')
    const earlier = CLAUDE_HOOK.commandIn(text)?.service
    if (earlier === service) return text
    if (earlier !== undefined) throw new Error(`it has a hook for ${earlier} already`)
    const command = writeCommand({ program, service }, CALL)
    const hooks = [{ type: 'command', command, timeout: TIMEOUT_S }]
    return appendJson(text, PATH, { matcher: TOOLS, hooks })
  },
  commandIn(text) {
    for (const each of commandsIn(jsonAt(text, PATH))) {
      const command = readCommand(each, CALL)
      if (command !== undefined) return command
    }
    return undefined
  },
}

/** The commands of the hooks of one event. */
function commandsIn(matchers: unknown): unknown[] {
  return membersOf(matchers, 'hooks').flatMap(hooks => membersOf(hooks, 'command'))
}

/** A member of each object in a list. */
function membersOf(list: unknown, name: string): unknown[] {
  if (!Array.isArray(list)) return []
  return list.flatMap(each =>
    typeof each === 'object' && each !== null ? [(each as Record<string, unknown>)[name]] : [],
  )
}
