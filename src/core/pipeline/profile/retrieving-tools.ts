/** In front of a tool's own name, as agents call those of MCP servers. */
const MCP_SEPARATOR = '__'

/**
 * Whether a tool gives originals back. Its results must stay unchanged: an agent that asks for all
 * of a result must get it, or it asks again.
 * @param names of such tools, as their servers call them
 */
export function isRetrieving(tool: string | undefined, names: readonly string[]): boolean {
  if (tool === undefined) return false
  const at = tool.lastIndexOf(MCP_SEPARATOR)
  return names.includes(at === -1 ? tool : tool.slice(at + MCP_SEPARATOR.length))
}
