import { anonymousName } from './anonymous-name.ts'
import { commandClass } from './command-class.ts'

/** Tools of agents that run a shell command, in lower case. */
const SHELL_TOOLS: ReadonlySet<string> = new Set([
  'bash',
  'container.exec',
  'exec',
  'exec_command',
  'execute_command',
  'local_shell',
  'local_shell_call',
  'run_command',
  'run_in_terminal',
  'run_shell_command',
  'run_terminal_cmd',
  'shell',
  'shell_command',
  'terminal',
])

/** Arguments that hold the command. */
const COMMAND_ARGUMENTS = ['command', 'cmd', 'script', 'input'] as const

/** The endpoint of a call, for its own user: the tool, or for a shell the class of its command. */
export function endpointName(tool: string | undefined, args: unknown): string {
  return endpointClass(tool, args, name => name ?? '')
}

/**
 * The class of a result's call, coarse enough to be shared: for tools that run shell commands the
 * class of the command (`commandClass`), for others the anonymous name. Names of two tools that do
 * the same in two agents differ.
 * @param args the call's arguments as a value; anything else than an object with a command is no
 * command
 * @returns 1 to 128 letters, digits and `_`
 */
export function endpointClass(
  tool: string | undefined,
  args: unknown,
  nameOf = anonymousName,
): string {
  return commandOfCall(tool, args) ?? nameOf(tool)
}

/** The class of the command, for tools that run one; else `null`. */
export function commandOfCall(tool: string | undefined, args: unknown): string | null {
  const isShell = tool !== undefined && SHELL_TOOLS.has(tool.toLowerCase())
  return isShell ? commandClass(commandOf(args)) : null
}

function commandOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return ''
  for (const name of COMMAND_ARGUMENTS) {
    const value = Object.hasOwn(args, name) ? (args as Record<string, unknown>)[name] : undefined
    if (typeof value === 'string') return value
    // As to a system call: each is one word.
    if (Array.isArray(value)) return value.filter(isText).map(quoted).join(' ')
  }
  return ''
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
