import type { ToolModels } from '../../core/enrich/value-model.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { statedReadOnly } from '../catalogue/stated-read-only.ts'
import { jsonBytes } from '../json-rpc.ts'

/** One call of a composed tool. */
export interface ComposedStep {
  /** Heads what the call gives. */
  readonly label: string
  readonly server: string
  /** The server's own name for it. */
  readonly tool: string
  /** `{name}` in a text is the argument of that name. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Whether the configuration states that the tool only reads. */
  readonly isStatedReadOnly: boolean
}

/** A tool of the configuration: several calls that only read, and one answer. */
export interface ComposedTool {
  readonly name: string
  readonly description: string
  /** Descriptions of its arguments, by name. All are texts, and all are needed. */
  readonly parameters: Readonly<Record<string, string>>
  readonly steps: readonly ComposedStep[]
}

/** A composed tool as the configuration has it. */
interface ConfiguredTool extends Pick<ComposedTool, 'description' | 'parameters'> {
  readonly calls: readonly Omit<ComposedStep, 'isStatedReadOnly'>[]
}

/**
 * The composed tools of a configuration, by name.
 * @param user what it states of the tools that they call
 */
export function composedTools(
  configured: Readonly<Record<string, ConfiguredTool>>,
  user: ToolModels,
): readonly ComposedTool[] {
  const isStatedReadOnly = statedReadOnly(user)
  return Object.entries(configured).map(([name, { description, parameters, calls }]) => ({
    name,
    description,
    parameters,
    steps: calls.map(step => {
      return { ...step, isStatedReadOnly: isStatedReadOnly(step.tool, step.server) === true }
    }),
  }))
}

/** Its definition as clients see it. */
export function composedDefinition({ name, description, parameters }: ComposedTool): JsonBytes {
  const properties = Object.entries(parameters).map(
    ([parameter, text]) => [parameter, { type: 'string', description: text }] as const,
  )
  return jsonBytes({
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: Object.keys(parameters),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  })
}
