import { type JsonBytes, parseAt } from '../../core/json/bytes/json-node.ts'
import { OPEN_BRACE, QUOTE } from '../../core/json/char-codes.ts'
import { member, objectMember } from '../members.ts'

/** A parameter of a tool that the header `Mcp-Param-{header}` repeats. */
export interface MirroredParam {
  readonly header: string
  /** The names of the properties that lead to it. */
  readonly path: readonly string[]
  readonly isNumber: boolean
}

const KEYWORD = 'x-mcp-header'
const NONE: readonly MirroredParam[] = []

/** What may be mirrored. */
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
/** No server takes a longer header. */
const MOST_HEADER_BYTES = 16 * 1024
/** A token of RFC 9110. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/

/** Keywords whose members are schemas by names that are free. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
])
/** Keywords that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])

/**
 * The parameters of a tool that headers repeat.
 * @returns `null` if its schema names one that cannot be: clients drop such a tool
 */
export function mirroredParams(definition: JsonBytes): readonly MirroredParam[] | null {
  if (!definition.includes(KEYWORD)) return NONE
  const schema = objectMember(definition, 'inputSchema')
  if (schema === null) return NONE
  const found: MirroredParam[] = []
  const names = new Set<string>()
  const waiting: ParamPath[] = [{ schema: parsed(schema), path: [] }]
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { schema: node, path } = place
    if (typeof node !== 'object' || node === null) continue
    if (!Array.isArray(node) && Object.hasOwn(node, KEYWORD)) {
      const { [KEYWORD]: header, type } = node as Readonly<Record<string, unknown>>
      const isValid =
        path !== null && path.length > 0 && typeof header === 'string' && TOKEN.test(header)
      if (!isValid || !TYPES.has(type) || names.has(header.toLowerCase())) return null
      names.add(header.toLowerCase())
      found.push({ header, path, isNumber: type === 'integer' })
    }
    for (const item of inner(node, path)) waiting.push(item)
  }
  return found
}

export function hasValidMirrors(definition: JsonBytes): boolean {
  return mirroredParams(definition) !== null
}

/** A schema; `path` is `null` if it is not reached by properties alone. */
interface ParamPath {
  readonly schema: unknown
  readonly path: readonly string[] | null
}

/** Longer paths are followed, but nothing in them can be mirrored. */
const MAX_PATH = 32

function inner(node: object, path: ParamPath['path']): ParamPath[] {
  if (Array.isArray(node)) return node.map(schema => ({ schema, path: null }))
  return Object.entries(node).flatMap(([keyword, value]): ParamPath[] => {
    if (VALUES.has(keyword) || typeof value !== 'object' || value === null) return []
    if (!NAMED_SCHEMAS.has(keyword) || Array.isArray(value)) return [{ schema: value, path: null }]
    const isReached = keyword === 'properties' && path !== null && path.length < MAX_PATH
    return Object.entries(value).map(([name, schema]) => ({
      schema,
      path: isReached ? [...path, name] : null,
    }))
  })
}

/**
 * What a header has to repeat of the arguments of a call.
 * @param args a JSON object
 * @returns `null` if the header is not to be there
 */
export function mirroredValue({ path }: MirroredParam, args: JsonBytes): string | null {
  let at: JsonBytes = args
  for (const name of path) {
    const next = at[0] === OPEN_BRACE ? member(at, name) : undefined
    if (next == null) return null
    at = next
  }
  if (at.length > MOST_HEADER_BYTES) return null
  if (at[0] === QUOTE) return parsed(at) as string
  const text = at.toString('latin1')
  return text === 'true' || text === 'false' || /^-?\d/.test(text) ? text : null
}

/** The headers of a call, as plain text. */
export function mirrorsOf(definition: JsonBytes, params: JsonBytes): Record<string, string> {
  const args = objectMember(params, 'arguments')
  if (args === null) return {}
  const pairs = (mirroredParams(definition) ?? []).flatMap(each => {
    const value = mirroredValue(each, args)
    return value === null ? [] : [[`mcp-param-${each.header.toLowerCase()}`, value] as const]
  })
  return Object.fromEntries(pairs)
}

function parsed(raw: JsonBytes): unknown {
  return parseAt(raw, { start: 0, end: raw.length })
}
