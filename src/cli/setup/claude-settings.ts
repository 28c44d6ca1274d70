import { UsageError } from '../../console/command.ts'
import { ownProgramInShell } from '../../runtime/installation.ts'
import { appendJson, editJson, jsonAt } from './edit-json.ts'

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

const HOOK_CALL = 'hook claude --url'
/** Claude Code ends a hook after so many seconds; ours ends earlier by itself. */
const TIMEOUT_S = 5
/** The tools whose outputs have a shape that is known. */
const TOOLS = 'Bash|mcp__.*'
/** A URL that a shell takes as it is. */
const PLAIN_URL = /^[\w.:/[\]-]+$/

const HOOK_PATH = ['hooks', 'PostToolUse'] as const

export const CLAUDE_HOOK: AgentHook = {
  withHook(text, service, program = ownProgramInShell()) {
    if (!PLAIN_URL.test(service)) throw new UsageError('--url has characters of a shell')
    const earlier = CLAUDE_HOOK.commandIn(text)?.service
    if (earlier === service) return text
    if (earlier !== undefined) throw new Error(`it has a hook for ${earlier} already`)
    const command = writeCommand({ program, service }, HOOK_CALL)
    const hooks = [{ type: 'command', command, timeout: TIMEOUT_S }]
    return appendJson(text, HOOK_PATH, { matcher: TOOLS, hooks })
  },
  commandIn(text) {
    for (const each of commandsIn(jsonAt(text, HOOK_PATH))) {
      const command = readCommand(each, HOOK_CALL)
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

/** A call of ours in the file of an agent, which a shell runs. */
export interface WrittenCommand {
  /** As the shell reads it: a name or a path, quoted if it needs that. */
  readonly program: string
  readonly service: string
}

/** A program of ours: the bare name, or a path to it, quoted or not. */
const PROGRAM =
  /^(?:haversack|[^\s'"]*[\\/]haversack(?:\.cmd)?|'.*[\\/]haversack'|".*[\\/]haversack(?:\.cmd)?")$/

/** Reads `PROGRAM CALL SERVICE`; `undefined` if the text is something else. */
export function readCommand(text: unknown, call: string): WrittenCommand | undefined {
  if (typeof text !== 'string') return undefined
  const [program = '', service, ...more] = text.split(` ${call} `)
  if (service === undefined || more.length > 0 || !PROGRAM.test(program)) return undefined
  return { program, service }
}

export function writeCommand({ program, service }: WrittenCommand, call: string): string {
  return `${program} ${call} ${service}`
}

/** A line below an agent's input that a command writes. */
export interface AgentStatusLine {
  /**
   * The text of the agent's file with the line. @throws Error if it has another one, or cannot be
   * changed so that nothing else changes; UsageError for a URL that a shell would not take as it is
   * @param program starts us, as a shell reads it; this installation if absent
   */
  withLine(text: string, service: string, program?: string): string
  /** The line in the text of the file; `undefined`: it has none of ours. */
  commandIn(text: string): WrittenCommand | undefined
}

const LINE_PATH = ['statusLine'] as const
const LINE_CALL = 'statusline --url'

export const CLAUDE_STATUS_LINE: AgentStatusLine = {
  withLine(text, service, program = ownProgramInShell()) {
    if (!PLAIN_URL.test(service)) throw new UsageError('--url has characters of a shell')
    if (jsonAt(text, LINE_PATH) !== undefined && CLAUDE_STATUS_LINE.commandIn(text) === undefined) {
      throw new Error('it has a status line already: leave --statusline out')
    }
    return editJson(text, [
      [[...LINE_PATH, 'type'], 'command'],
      [[...LINE_PATH, 'command'], writeCommand({ program, service }, LINE_CALL)],
    ])
  },
  commandIn: text => readCommand(jsonAt(text, [...LINE_PATH, 'command']), LINE_CALL),
}
