import { hash } from 'node:crypto'
import { KNOWN_TOOLS, NAME_WORDS } from './name-words.ts'

/** For results without the name of the called tool. */
const UNNAMED = 'unknown'
const MCP_PREFIX = 'mcp__'
const SEPARATOR = '__'
/** Names with more words are not distinguished by the rest. */
const MAX_WORDS = 6
/** Of what is longer only the hash stands. */
const MAX_CHARS = 256
const HASH_DIGITS = 6

/**
 * A tool's name as telemetry may have it: names of tools that agents bring along as they are; of an
 * MCP tool the server's name as `mcp__p<6 hex>__` and what follows; of all others the common words
 * in lower case, runs of other words as `x<6 hex>`. The hashes are of SHA-256 without a key, so
 * that members of a team have the same names for the same tools: a reader who guesses a word sees
 * that it was guessed right, which is why names are all that is hashed like this.
 * @returns 1 to 128 letters, digits and `_`
 */
export function anonymousName(tool: string | undefined): string {
  if (tool === undefined || tool === '') return UNNAMED
  if (KNOWN_TOOLS.has(tool)) return tool
  const end = tool.lastIndexOf(SEPARATOR)
  if (!tool.startsWith(MCP_PREFIX) || end < MCP_PREFIX.length) return commonWords(tool)
  const server = anonymousServer(tool.slice(MCP_PREFIX.length, end))
  return `${MCP_PREFIX}${server}${SEPARATOR}${commonWords(tool.slice(end + SEPARATOR.length))}`
}

/**
 * The same with the latest names at hand: agents call the same tools all the time. One for each
 * tenant, since the time would reveal to one which tools another calls.
 */
export function createAnonymousNames(): typeof anonymousName {
  const names = new Map<string | undefined, string>()
  return tool => {
    const known = names.get(tool)
    if (known !== undefined) return known
    if (names.size === REMEMBERED) names.clear()
    const name = anonymousName(tool)
    if (tool === undefined || tool.length <= MAX_CHARS) names.set(tool, name)
    return name
  }
}

const REMEMBERED = 512

/** What represents an MCP server's name in those of its tools: `p` and 6 hex digits. */
export function anonymousServer(slug: string): string {
  return `p${nameHash(slug)}`
}

/** What is between other characters, or begins with a capital after a small letter. */
const WORD = /[A-Z]*[a-z0-9]+|[A-Z]+|[^A-Za-z0-9\s_./:-]+/g

function commonWords(name: string): string {
  const words = name.length > MAX_CHARS ? null : name.match(WORD)
  if (words === null) return `x${nameHash(name)}`
  const parts: string[] = []
  let others: string[] = []
  const close = () => {
    if (others.length > 0) parts.push(`x${nameHash(others.join('_'))}`)
    others = []
  }
  for (const word of words.map(each => each.toLowerCase())) {
    if (NAME_WORDS.has(word)) {
      close()
      parts.push(word)
    } else others.push(word)
  }
  close()
  return parts.slice(0, MAX_WORDS).join('_')
}

function nameHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, HASH_DIGITS)
}
