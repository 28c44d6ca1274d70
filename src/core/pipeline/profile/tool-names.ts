import { foundByTool } from '../../reduce/trim/resolve-strategy.ts'
import { anonymousName } from '../../telemetry/anonymous-name.ts'
import { endpointClass } from '../../telemetry/endpoint-class.ts'
import { WILDCARD } from './name-patterns.ts'

const MCP = 'mcp__'
const SEPARATOR = '__'
/** The server of an MCP tool, in the clear or as telemetry writes it, and what follows. */
const OF_SERVER = /^mcp__(p[0-9a-f]{6}|.+?)__(.*)$/s
/** As long as every server's name is that telemetry writes. */
const HASHED_SERVER = 'p123456'

/** The call by which settings are found. */
export interface NamedCall {
  readonly tool?: string | undefined
  readonly args?: unknown
}

/**
 * The names that a call may have settings by, the most particular first: that of its tool, also
 * without what gateways put in front of it, then its endpoint class.
 */
export function namesOf({ tool, args }: NamedCall): readonly string[] {
  const names: string[] = []
  const classes = [endpointClass(tool, args)]
  foundByTool(tool, name => {
    if (!names.includes(name)) names.push(name)
    if (name === tool || name.startsWith(MCP) || !name.includes(SEPARATOR)) return
    // A gateway in front of a server's tool: `mcp__gateway__github__list`.
    const ofServer = MCP + name
    if (ofServer === tool) return
    names.push(ofServer)
    classes.push(anonymousName(ofServer))
  })
  return [...names, ...classes]
}

/**
 * How particular a pattern is: the longer, the more. The name of an MCP server counts alike in the
 * clear and as telemetry writes it.
 */
export function rankOf(pattern: string): number {
  const ofServer = OF_SERVER.exec(pattern.slice(0, -WILDCARD.length))
  if (ofServer === null) return pattern.length
  const [, , rest = ''] = ofServer
  return `${MCP}${HASHED_SERVER}${SEPARATOR}${rest}${WILDCARD}`.length
}
