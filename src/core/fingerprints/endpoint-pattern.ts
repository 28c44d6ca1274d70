import { anonymousName, anonymousServer } from '../telemetry/anonymous-name.ts'

/** Matches the hash of a server's name. */
const HASHED = /^p[0-9a-f]{6}$/
const MCP = /^mcp__(.+?)__(.*)$/

/**
 * Whether a pattern is of an endpoint class. `*` represents anything; in `mcp__SERVER__TOOL` the
 * server may be named as clients name it, and so may a tool without `*`: telemetry has hashes for
 * both, and so has what is compared.
 */
export function matchesEndpoint(name: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => matches(name, hashed(pattern)))
}

/** The pattern of all endpoints of an MCP server. */
export function serverPattern(server: string): string {
  return `mcp__${server}__*`
}

function hashed(pattern: string): string {
  const [, server, tool] = MCP.exec(pattern) ?? []
  if (server === undefined || tool === undefined || server.includes('*')) return pattern
  if (HASHED.test(server)) return pattern
  return tool.includes('*') ? `mcp__${anonymousServer(server)}__${tool}` : anonymousName(pattern)
}

/**
 * Linear in the name for each part of the pattern: the text between two `*` is matched at its first
 * place.
 */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
