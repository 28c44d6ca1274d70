import { type FoundModel, mutates } from './models.ts'
import { bareName } from './tool-names.ts'

/** What a server says of a tool. Hints, which any server can give. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string
  readonly server: string
  /** Whether the operator believes what the server says. */
  readonly isTrusted: boolean
  readonly annotations?: ToolAnnotations | undefined
  /** Whether its calls are tasks, or ask the client for input. Such a call is never made ahead. */
  readonly isInteractive?: boolean | undefined
}

/** Whether a tool may be called ahead, and under which condition. */
export type Eligibility =
  | {
      readonly isEligible: true
      /** Addresses among the arguments must be of hosts that the model has called. */
      readonly checksHosts: boolean
    }
  | {
      readonly isEligible: false
      readonly reason: 'not_speculatable' | 'tuned_off'
      /** A contradiction in the configuration, as a line for its report. */
      readonly fault?: string
    }

/**
 * Names of tools that manage an agent's context (`use_context`, SOURCES.md#planner), and of our
 * own.
 */
const CONTEXT_TOOL = /context|^haversack_/i

const NO = { isEligible: false, reason: 'not_speculatable' } as const

/**
 * Whether a tool may be called before the model asks for it. It may if the user says that it is
 * `pure` or `read_only`; if a trusted server offers it, also if a built-in model says so, or its
 * `readOnlyHint` without a `destructiveHint`. What the user says wins over both. A tool that
 * reaches the open world must be listed by the user as well. `speculate = false`, contexts, tasks
 * and tools that ask for input: never.
 */
export function eligibilityOf(tool: ListedTool, found: FoundModel): Eligibility {
  const { model, isAsked, forbiddenBy } = found
  const annotations = tool.annotations ?? {}
  if (isAsked && (mutates(model.side_effect_class) || annotations.destructiveHint === true)) {
    const why = annotations.destructiveHint === true ? 'destructive' : model.side_effect_class
    const fault = `tools.${tool.name}.speculate: must not be true, since the tool is ${why}`
    return { ...NO, fault }
  }
  if (forbiddenBy === 'user') return NO
  if (forbiddenBy === 'mined') return { isEligible: false, reason: 'tuned_off' }
  if (tool.isInteractive === true || CONTEXT_TOOL.test(bareName(tool.name))) return NO
  if (model.value_class === 'audit_only' || annotations.destructiveHint === true) return NO
  if (!isReading(tool, found)) return NO
  const isClosed = tool.isTrusted && annotations.openWorldHint === false
  if (!isClosed && !found.isListed) return NO
  return { isEligible: true, checksHosts: !isClosed }
}

/** Whether calls of the tool only read, according to who is believed. */
function isReading(tool: ListedTool, { model, userClass, shippedClass }: FoundModel): boolean {
  if (userClass !== undefined) return userClass === 'pure' || userClass === 'read_only'
  if (!tool.isTrusted || mutates(model.side_effect_class)) return false
  if (shippedClass !== undefined && mutates(shippedClass)) return false
  if (shippedClass === 'pure' || shippedClass === 'read_only') return true
  return tool.annotations?.readOnlyHint === true
}

/**
 * Whether a call of the tool may change what other calls return. Only what is believed to read does
 * not; whether it may be called ahead is another question.
 */
export function mayMutate(tool: ListedTool, found: FoundModel): boolean {
  return tool.annotations?.destructiveHint === true || !isReading(tool, found)
}
