import { argumentBodies } from '../../src/core/sessions/lines/argument-bodies.ts'

/** A result as a test sends it. */
export interface SentResult {
  readonly content: string
  readonly tool: string
  readonly args?: Record<string, unknown>
  readonly tool_call_id?: string
  readonly is_error?: boolean
  readonly is_sidechain?: boolean
}

/** A text that the agent has, and where it came from. */
export interface Held {
  readonly text: string
  readonly tool: string
  readonly sequence: number
  /** Whether a later answer may refer to it. */
  readonly isResult: boolean
  /** Its lines that the answer had as references. */
  hidden?: ReadonlySet<number>
}

/** `own`: what is new with this result. */
export interface Taken {
  readonly sequence: number
  readonly held: readonly Held[]
  readonly own: readonly Held[]
}

/**
 * What an agent's context holds, by a plain model: lists, and nothing is forgotten but by a
 * compaction.
 */
export interface AgentContext {
  readonly partition: number
  /**
   * @returns the result's number, and what the agent has by then, arguments of this call included
   */
  take(result: SentResult): Taken
  compact(): void
}

export function createAgentContext(): AgentContext {
  let partition = 0
  let results = 0
  let held: Held[] = []
  let calls = new Map<string, { sequence: number; before: readonly Held[] }>()

  return {
    get partition() {
      return partition
    },
    take({ content, tool, args, tool_call_id, is_error }) {
      const call = tool_call_id === undefined ? null : `${tool_call_id} ${content}`
      const known = call === null ? undefined : calls.get(call)
      if (known !== undefined) return { sequence: known.sequence, held: known.before, own: [] }
      const sequence = ++results
      const given = argumentBodies(args).map(({ name, text }) => {
        return { text, tool: `${tool}.${name}`, sequence, isResult: false }
      })
      const before = [...held, ...given]
      const whole = { text: content, tool, sequence, isResult: true }
      const inside = stringsOf(content).map(([key, text]) => {
        return { text, tool: `${tool}.${key}`, sequence, isResult: false }
      })
      held = is_error === true ? before : [...before, whole, ...inside]
      if (call !== null) calls.set(call, { sequence, before })
      return { sequence, held: before, own: [whole, ...inside] }
    },
    compact() {
      partition++
      held = []
      calls = new Map()
    },
  }
}

/** Texts of several lines that are members of a JSON object, by their names. */
function stringsOf(content: string): [name: string, text: string][] {
  if (!content.startsWith('{')) return []
  const members = Object.entries(JSON.parse(content) as object)
  return members.filter((member): member is [string, string] => String(member[1]).includes('\n'))
}
