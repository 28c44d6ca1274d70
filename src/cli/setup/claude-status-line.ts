import { UsageError } from '../../console/command.ts'
import { ownProgramInShell } from '../../runtime/installation.ts'
import { PLAIN_URL } from './claude-hook.ts'
import { editJson, jsonAt } from './edit-json.ts'
import { readCommand, type WrittenCommand, writeCommand } from './written-command.ts'

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

const PATH = ['statusLine'] as const
const CALL = 'statusline --url'

export const CLAUDE_STATUS_LINE: AgentStatusLine = {
  withLine(text, service, program = ownProgramInShell()) {
    if (!PLAIN_URL.test(service)) throw new UsageError('--url has characters of a shell')
    if (jsonAt(text, PATH) !== undefined && CLAUDE_STATUS_LINE.commandIn(text) === undefined) {
      throw new Error('it has a status line already: leave --statusline out')
    }
    return editJson(text, [
      [[...PATH, 'type'], 'command'],
      [[...PATH, 'command'], writeCommand({ program, service }, CALL)],
    ])
  },
  commandIn: text => readCommand(jsonAt(text, [...PATH, 'command']), CALL),
}
