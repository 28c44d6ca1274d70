import { type Fields, fieldsOf, textField } from '../logs/log-line.ts'

/** A tool's definition, as an agent carries it in each request. */
export interface DefinedTool {
  /** `null` if a recorded request or a recorded list defines it. */
  readonly server: string | null
  /** The name that its definition has. */
  readonly tool: string
  /** What a model gets of it, as JSON: name, description and the schema of its arguments. */
  readonly sent: string
  readonly description: string
  readonly parameters: readonly DefinedParameter[]
}

/** A parameter on the first level of a schema. */
export interface DefinedParameter {
  readonly name: string
  readonly description: string
}

/**
 * The tools that a recorded request to Anthropic or OpenAI defines, or a recorded answer to
 * `tools/list`.
 * @returns `null` if the value has no list of tools
 */
export function definedTools(value: unknown): readonly DefinedTool[] | null {
  const request = fieldsOf(value)
  const list = request?.['tools'] ?? fieldsOf(request?.['result'])?.['tools']
  if (!Array.isArray(list)) return null
  return list.flatMap(each => {
    const fields = fieldsOf(each)
    const tool = fields === null ? null : definedTool(fields, null)
    return tool === null ? [] : [tool]
  })
}

/** @returns `null` if the definition has no name: a tool that the vendor defines, for example */
export function definedTool(fields: Fields, server: string | null): DefinedTool | null {
  // OpenAI's chat requests have it one level deeper.
  const named = fieldsOf(fields['function']) ?? fields
  const tool = textField(named, 'name')
  if (tool === undefined) return null
  const schema = fieldsOf(named['inputSchema'] ?? named['input_schema'] ?? named['parameters'])
  const properties = fieldsOf(schema?.['properties']) ?? {}
  const parameters = Object.entries(properties).map(([name, property]) => {
    const description = textField(fieldsOf(property) ?? {}, 'description') ?? ''
    return { name, description }
  })
  const description = textField(named, 'description') ?? ''
  const sent = JSON.stringify({ name: tool, description, input_schema: schema ?? {} })
  return { server, sent, tool, description, parameters }
}
