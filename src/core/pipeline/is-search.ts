import { endpointName } from '../telemetry/endpoint-class.ts'

/** Classes of shell commands that search. */
const SEARCH_COMMANDS: ReadonlySet<string> = new Set([
  'ast_grep',
  'fd',
  'find',
  'git_grep',
  'grep',
  'locate',
  'rg',
  'semgrep',
])
/** Words in the names of tools that search. */
const SEARCH_WORDS = new Set(['find', 'glob', 'grep', 'ripgrep', 'search', 'searches'])
/** With these a tool edits what it finds. */
const EDIT_WORDS = new Set(['edit', 'replace', 'update'])
/** Longer names are in no agent. */
const MAX_NAME_CHARS = 256

/**
 * Whether a call looks for something: by the words of the tool's own name, or by the program that a
 * shell command runs first.
 */
export function isSearch(tool: string | undefined, args: () => unknown): boolean {
  if (tool === undefined || tool.length > MAX_NAME_CHARS) return false
  const words = wordsOf(tool.slice(Math.max(0, tool.lastIndexOf('__'))))
  if (words.some(word => SEARCH_WORDS.has(word))) return !words.some(word => EDIT_WORDS.has(word))
  return SEARCH_COMMANDS.has(endpointName(tool, args()))
}

/** `findUsages`, `search_code` and `Web-Search` are words as well as `grep` is. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z]+/)
}
