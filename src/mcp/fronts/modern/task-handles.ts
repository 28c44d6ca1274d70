import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { objectMember } from '../../members.ts'
import type { McpCaller } from '../http-exchange.ts'
import type { Seal } from './seal.ts'

/** The extension of long calls. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** Its requests; each names a task. */
export const TASK_METHODS: ReadonlySet<string> = new Set([
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
])

export function declaresTasks(capabilities: JsonBytes): boolean {
  const extensions = objectMember(capabilities, 'extensions')
  return extensions !== null && objectMember(extensions, TASKS) !== null
}

/** What a handle names. */
export interface NamedTask {
  readonly server: string
  /** The server's own id: a JSON value. */
  readonly taskId: JsonBytes
}

/** The ids of tasks as clients know them: sealed, they name the server, and open for one tenant. */
export class TaskHandles {
  readonly #seal: Seal

  constructor(seal: Seal) {
    this.#seal = seal
  }

  /** @returns a JSON string */
  write(server: string, { tenant }: McpCaller, taskId: JsonBytes): string {
    const secret = Buffer.concat([Buffer.from(`${server}\n`), taskId])
    return JSON.stringify(this.#seal.seal(['task', tenant], secret))
  }

  /** @returns `null` for a handle that is none of this tenant's */
  read({ tenant }: McpCaller, handle: string): NamedTask | null {
    const secret = this.#seal.open(['task', tenant], handle)
    const lineEnd = secret?.indexOf('\n') ?? -1
    if (secret === null || lineEnd === -1) return null
    return { server: secret.toString('utf8', 0, lineEnd), taskId: secret.subarray(lineEnd + 1) }
  }
}
