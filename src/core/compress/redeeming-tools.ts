/** Tools that give originals back. An agent that asks for all of a result must get it, or it asks again. */
const REDEEMING_TOOLS: ReadonlySet<string> = new Set(['headroom_retrieve'])

/** In front of a tool's own name, as agents call those of MCP servers. */
const MCP_SEPARATOR = '__'

/** Whether the results of a tool are originals that were asked for, and must stay as they are. */
export function isRedeeming(tool = ''): boolean {
  const at = tool.lastIndexOf(MCP_SEPARATOR)
  return REDEEMING_TOOLS.has(at === -1 ? tool : tool.slice(at + MCP_SEPARATOR.length))
}
