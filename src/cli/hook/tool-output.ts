/** A JSON object of another program. */
type OutputMembers = Readonly<Record<string, unknown>>

/** The texts of a tool's output for the model, and the output with other texts in their places. */
export interface ToolOutput {
  readonly texts: readonly string[]
  /** The output with these texts, in the same order. Everything else in it stays. */
  withTexts(texts: readonly string[]): unknown
}

const MCP_PREFIX = 'mcp__'
/** Our own gateway has encoded its results already. */
const GATEWAY_PREFIX = 'mcp__haversack'

/**
 * The texts in the output of a tool of Claude Code; `null` for a shape that is not known, whose
 * output must stay. Claude Code shows some outputs otherwise than it gives them to hooks: it
 * numbers the lines of `Read`, and shows the start of an output that it has put into a file.
 */
export function toolOutputOf(tool: string, output: unknown): ToolOutput | null {
  if (tool.startsWith(GATEWAY_PREFIX)) return null
  if (typeof output === 'string') return oneText(output, text => text)
  if (tool === 'Bash') return bashOutput(output)
  return tool.startsWith(MCP_PREFIX) ? mcpOutput(output) : null
}

function oneText(text: string, put: (text: string) => unknown): ToolOutput | null {
  if (text === '') return null
  return { texts: [text], withTexts: ([other = text]) => put(other) }
}

function bashOutput(output: unknown): ToolOutput | null {
  if (!isMembers(output)) return null
  const { stdout, stderr, isImage } = output
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return null
  const isElsewhere = output['persistedOutputPath'] !== undefined
  if (isElsewhere || (isImage ?? false) !== false) return null
  return oneText(stdout, text => ({ ...output, stdout: text }))
}

/** Blocks of content, or an object with them. One with other results beside them stays. */
function mcpOutput(output: unknown): ToolOutput | null {
  if (Array.isArray(output)) return blocksOutput(output, blocks => blocks)
  if (!isMembers(output) || !Array.isArray(output['content'])) return null
  if (output['structuredContent'] !== undefined) return null
  return blocksOutput(output['content'], content => ({ ...output, content }))
}

function blocksOutput(
  blocks: readonly unknown[],
  put: (blocks: readonly unknown[]) => unknown,
): ToolOutput | null {
  const texts = blocks.flatMap(block => textOf(block) ?? [])
  if (texts.length === 0) return null
  return {
    texts,
    withTexts(others) {
      let next = 0
      const replaced = blocks.map(block => {
        const text = textOf(block)
        return text === null ? block : { ...(block as OutputMembers), text: others[next++] ?? text }
      })
      return put(replaced)
    },
  }
}

function textOf(block: unknown): string | null {
  if (!isMembers(block) || block['type'] !== 'text') return null
  const text = block['text']
  return typeof text === 'string' && text !== '' ? text : null
}

export function isMembers(value: unknown): value is OutputMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
