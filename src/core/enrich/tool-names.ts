/** Between the parts that clients and gateways put in front of a tool's own name. */
const SEPARATOR = '__'
/** How clients mark tools of MCP servers: `mcp__server__tool`. */
const MARK = 'mcp'
/**
 * Names of one tool that are looked up. More separators are in names that are made to cost time.
 */
const MAX_NAMES = 8

/**
 * The names under which a tool may be configured, the most exact first: as it is, then without the
 * part before each `__`. With a server also as clients call it, `mcp__server__tool`.
 */
export function namesOf(tool: string, server?: string): readonly string[] {
  const names: string[] = []
  if (server !== undefined) {
    const qualified = `${server}${SEPARATOR}${tool}`
    names.push(`${MARK}${SEPARATOR}${qualified}`, qualified)
  }
  let rest = tool
  while (rest !== '' && names.length < MAX_NAMES) {
    names.push(rest)
    const at = rest.indexOf(SEPARATOR)
    if (at === -1) break
    rest = rest.slice(at + SEPARATOR.length)
  }
  return names
}

/** The server that a prefixed name names: `mcp__server__tool`, `server__tool`. */
export function serverOf(tool: string): string | undefined {
  const parts = tool.split(SEPARATOR, MAX_NAMES)
  const [first, second] = parts
  if (first === MARK) return parts.length > 2 ? second : undefined
  return parts.length > 1 ? first : undefined
}

/** The tool's own name: what comes after its last prefix. */
export function bareName(tool: string): string {
  const at = tool.lastIndexOf(SEPARATOR)
  return at === -1 ? tool : tool.slice(at + SEPARATOR.length)
}
