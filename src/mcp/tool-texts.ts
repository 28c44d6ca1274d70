import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import type { ListEntry } from './catalogue.ts'
import { objectMember, withMember } from './members.ts'
import { definitionHash } from './memory/definition-hash.ts'

/** Shorter texts for a tool, and the definition that they were written for. */
export interface ToolText {
  /** As `definitionHash` gives it. */
  readonly hash: string
  /** The description of the tool; absent if its own stays. */
  readonly description?: string | undefined
  /** Texts of parameters, by name; the others keep theirs. */
  readonly parameters: Readonly<Record<string, string>>
}

interface Shortened {
  readonly tools: readonly ListEntry[]
  /** Tools whose definitions are not those that the texts were written for: they stay. */
  readonly outdated: readonly string[]
}

/**
 * The tools of a server with the texts that were written for them. All other bytes of a definition
 * stay. A parameter that is not there gets no text.
 * @param texts by the server's own names
 */
export function withToolTexts(
  tools: readonly ListEntry[],
  texts: ReadonlyMap<string, ToolText>,
): Shortened {
  if (texts.size === 0) return { tools, outdated: [] }
  const outdated: string[] = []
  const shortened = tools.map(tool => {
    const text = texts.get(tool.key)
    if (text === undefined) return tool
    if (definitionHash(tool) === text.hash) return { key: tool.key, raw: shorten(tool.raw, text) }
    outdated.push(tool.key)
    return tool
  })
  return { tools: shortened, outdated }
}

function shorten(raw: JsonBytes, { description, parameters }: ToolText): JsonBytes {
  let object = raw
  if (description !== undefined) object = withText(object, ['description'], description) ?? object
  for (const [name, text] of Object.entries(parameters)) {
    const path = ['inputSchema', 'properties', name, 'description']
    object = withText(object, path, text) ?? object
  }
  return object
}

/** @returns `null` if there is no object at the path */
function withText(object: JsonBytes, path: readonly string[], text: string): JsonBytes | null {
  const [name, ...rest] = path
  if (rest.length === 0) return withMember(object, name!, JSON.stringify(text))
  const inner = objectMember(object, name!)
  const changed = inner === null ? null : withText(inner, rest, text)
  return changed === null ? null : withMember(object, name!, changed)
}
