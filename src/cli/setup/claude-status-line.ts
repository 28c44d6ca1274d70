import { UsageError } from '../command.ts'
import { PLAIN_URL } from './claude-hook.ts'
import { editJson, jsonAt } from './edit-json.ts'

/** A line below an agent's input that a command writes. */
export interface AgentStatusLine {
  /**
   * The text of the agent's file with the line. @throws Error if it has another one, or cannot be
   * changed so that nothing else changes; UsageError for a URL that a shell would not take as it is
   */
  withLine(text: string, service: string): string
  /** The service that the line in the text of the file asks; `undefined`: it has none of ours. */
  serviceIn(text: string): string | undefined
}

const PATH = ['statusLine'] as const
const COMMAND = 'haversack statusline --url '

export const CLAUDE_STATUS_LINE: AgentStatusLine = {
  withLine(text, service) {
    if (!PLAIN_URL.test(service)) throw new UsageError('--url has characters of a shell')
    if (jsonAt(text, PATH) !== undefined && CLAUDE_STATUS_LINE.serviceIn(text) === undefined) {
      throw new Error('it has a status line already: leave --statusline out')
    }
    return editJson(text, [
      [[...PATH, 'type'], 'command'],
      [[...PATH, 'command'], COMMAND + service],
    ])
  },
  serviceIn(text) {
    const command = jsonAt(text, [...PATH, 'command'])
    if (typeof command !== 'string' || !command.startsWith(COMMAND)) return undefined
    return command.slice(COMMAND.length)
  },
}
