import { fieldsOf } from '../logs/log-line.ts'
import type { MinedResult } from '../logs/read-log.ts'
import type { DefinedTool } from './defined-tool.ts'

/** Which tools recorded sessions called, and with which parameters. */
export class ToolUse {
  readonly #parameters = new Map<string, Set<string>>()
  readonly #calls = new Map<string, number>()

  add({ tool, args }: Pick<MinedResult, 'tool' | 'args'>): void {
    if (tool === undefined) return
    const name = ownName(tool)
    this.#calls.set(name, this.calls(name) + 1)
    const known = this.#parameters.get(name) ?? new Set()
    for (const parameter of Object.keys(fieldsOf(args) ?? {})) known.add(parameter)
    this.#parameters.set(name, known)
  }

  /** Calls of a tool, whatever its name is prefixed with. */
  calls(tool: string): number {
    return this.#calls.get(ownName(tool)) ?? 0
  }

  /** Parameters that no call had; none if the tool was never called. */
  unusedParameters({ tool, parameters }: DefinedTool): string[] {
    const given = this.#parameters.get(ownName(tool))
    if (given === undefined) return []
    return parameters.map(({ name }) => name).filter(name => !given.has(name))
  }
}

/** Clients put names of their own and of the server before a tool's name: `mcp__github__get_me`. */
function ownName(tool: string): string {
  return tool.split('__').at(-1) ?? ''
}
