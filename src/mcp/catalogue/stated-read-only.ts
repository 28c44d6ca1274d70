import { createModels } from '../../core/enrich/models.ts'
import type { ToolModels } from '../../core/enrich/value-model.ts'

/** Whether the user states that a tool only reads; `undefined`: nothing is stated. */
export type StatedReadOnly = (tool: string, server: string) => boolean | undefined

/** @param user what the configuration states of tools */
export function statedReadOnly(user: ToolModels): StatedReadOnly {
  const models = createModels({ user })
  return (tool, server) => {
    const { userClass } = models.find(tool, server)
    return userClass && (userClass === 'pure' || userClass === 'read_only')
  }
}
