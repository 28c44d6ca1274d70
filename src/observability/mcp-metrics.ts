import { type Register, SECONDS } from './register.ts'

/** What the gateway does for its clients. Upstreams are named as in the configuration. */
export interface McpMetrics {
  /** @param outcome how a call of a tool ended: one of a few words */
  call(upstream: string, outcome: string): void
  /** What a call took beside its upstream, in milliseconds. */
  added(upstream: string, ms: number): void
  /** Tokens of a text in a result, before and after it was packed. */
  tokens(upstream: string, before: number, after: number): void
  /** @param isAgain whether it replaces a connection that was lost */
  connected(upstream: string, isAgain: boolean): void
  disconnected(upstream: string): void
  /** The upstream reported that one of its lists changed. */
  listChanged(upstream: string): void
}

/** Upstreams with labels of their own; all others share one. */
const MOST_NAMES = 64
const OTHERS = 'others'

export function createMcpMetrics({ counter, histogram, setGauge }: Register): McpMetrics {
  const labels = ['upstream']
  const calls = counter(
    'haversack_mcp_calls_total',
    'Calls of tools of MCP servers, by how they ended',
    ['upstream', 'outcome'],
  )
  const added = histogram(
    'haversack_mcp_added_seconds',
    'Time that a call of a tool took beside its MCP server',
    SECONDS,
    'upstream',
  )
  const before = counter(
    'haversack_mcp_tokens_before_total',
    'Tokens of texts in results of MCP servers, before they are packed',
    labels,
  )
  const after = counter(
    'haversack_mcp_tokens_after_total',
    'The same, after they were packed',
    labels,
  )
  const connections = setGauge(
    'haversack_mcp_connections',
    'Open connections to MCP servers',
    labels,
  )
  const restarts = counter(
    'haversack_mcp_restarts_total',
    'Connections to MCP servers that replaced a lost one',
    labels,
  )
  const changes = counter(
    'haversack_mcp_list_changes_total',
    'Reports of MCP servers that a list changed',
    labels,
  )
  const nameOf = createNames(MOST_NAMES)
  return {
    call: (upstream, outcome) => calls.inc({ upstream: nameOf(upstream), outcome }),
    added: (upstream, ms) => added(ms / 1000, nameOf(upstream)),
    tokens(upstream, tokensBefore, tokensAfter) {
      before.inc({ upstream: nameOf(upstream) }, tokensBefore)
      after.inc({ upstream: nameOf(upstream) }, tokensAfter)
    },
    connected(upstream, isAgain) {
      connections.inc({ upstream: nameOf(upstream) })
      if (isAgain) restarts.inc({ upstream: nameOf(upstream) })
    },
    disconnected: upstream => connections.dec({ upstream: nameOf(upstream) }),
    listChanged: upstream => changes.inc({ upstream: nameOf(upstream) }),
  }
}

/** The first names that come, themselves; after so many `OTHERS`. */
function createNames(most: number): (name: string) => string {
  const known = new Set<string>()
  return name => {
    if (known.has(name)) return name
    if (known.size >= most) return OTHERS
    known.add(name)
    return name
  }
}
