import { type ParseError, parse } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'

/** A server as a client's file describes it. */
export interface FoundServer {
  readonly name: string
  readonly terms: Readonly<Record<string, unknown>>
}

/** A file of Claude Code, Cursor, VS Code or Codex. */
export interface ClientFile {
  readonly syntax: 'json' | 'toml'
  /** Where its servers are: the members that hold them, by their paths. */
  readonly places: readonly (readonly string[])[]
  readonly servers: readonly FoundServer[]
}

/** The names by which clients call the servers: Claude Code and Cursor, then VS Code. */
const JSON_MEMBERS = ['mcpServers', 'servers'] as const

/** @throws Error for a file that has no servers in a place that is known */
export function readClientFile(text: string, isToml: boolean): ClientFile {
  const root = isToml ? readToml(text) : readJsonc(text)
  const places = isToml ? [['mcp_servers']] : jsonPlaces(root)
  const held = places.filter(place => {
    const value = at(root, place)
    return isObject(value) && Object.keys(value).length > 0
  })
  if (held.length === 0) throw new Error('it has no MCP servers')
  const servers = held.flatMap(place => {
    const found = Object.entries(at(root, place) as Record<string, unknown>)
    return found.flatMap(([name, terms]) => (isObject(terms) ? [{ name, terms }] : []))
  })
  return { syntax: isToml ? 'toml' : 'json', places: held, servers }
}

function readToml(text: string): unknown {
  try {
    return parseToml(text)
  } catch (error) {
    throw new Error(`it is not TOML: ${(error as Error).message}`)
  }
}

function readJsonc(text: string): unknown {
  const errors: ParseError[] = []
  const root: unknown = parse(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || !isObject(root)) throw new Error('it is not JSON')
  return root
}

/** Claude Code keeps servers for all folders, and for each folder. */
function jsonPlaces(root: unknown): string[][] {
  const projects = at(root, ['projects'])
  const folders = isObject(projects) ? Object.keys(projects) : []
  return [
    ...JSON_MEMBERS.map(member => [member]),
    ...folders.map(folder => ['projects', folder, 'mcpServers']),
  ]
}

export function at(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  )
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
