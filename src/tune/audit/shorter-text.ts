import type { DefinedParameter, DefinedTool } from './defined-tool.ts'

/** What a definition's description could be, for a person to judge. */
export interface ShorterText {
  readonly description: string
  /** Parameters that get the text which the tool's description has for them. */
  readonly parameters: Readonly<Record<string, string>>
  /** What was done, in words. */
  readonly steps: readonly string[]
}

/** A fence of Markdown, whose lines keep their white space. */
const FENCE = /^\s*(```|~~~)/

/** The heading of a list of parameters, as docstrings have it. */
const ARGUMENTS =
  /^\s*(?:#+\s*|\*\*)?(?:args|arguments|parameters|params|inputs?)(?:\*\*)?\s*:?\s*(?:\*\*)?\s*$/i

/** One parameter in such a list: `name (type): text`, `- name: text`, `` - `name` - text ``. */
const ARGUMENT = /^\s*(?:[-*]\s+)?[`*]*([\w.-]+)[`*]*\s*(?:\([^)]*\))?[`*]*\s*(?::|-|–)\s+(\S.*)$/

/**
 * A shorter form of a tool's description: without superfluous white space, and without a list of
 * parameters that the schema describes too. If the schema lacks a parameter's text, it gets it.
 * @returns `null` if nothing gets shorter
 */
export function shorterText({ description, parameters }: DefinedTool): ShorterText | null {
  const { lines, moved } = withoutArguments(description.split('\n'), parameters)
  const text = tidy(lines)
  if (text === description) return null
  const steps = [
    ...(tidy(description.split('\n')) === description ? [] : ['white space']),
    ...(moved === null ? [] : ['a list of parameters that the schema has']),
  ]
  return { description: text, parameters: moved ?? {}, steps }
}

/** The lines without indentation that all share, blanks at ends, and blank lines. */
function tidy(lines: readonly string[]): string {
  let isFenced = false
  const indents = lines.slice(1).filter(line => line.trim() !== '')
  const shared = indents.reduce(
    (least, line) => Math.min(least, line.length - line.trimStart().length),
    Infinity,
  )
  const kept = lines.flatMap((line, at) => {
    const isFence = FENCE.test(line)
    if (isFence) isFenced = !isFenced
    const cut = at === 0 ? line.trimStart() : line.slice(Math.min(shared, line.length))
    if (isFenced || isFence) return [cut]
    return cut.trim() === '' ? [] : [cut.trimEnd()]
  })
  return kept.join('\n')
}

interface WithoutArguments {
  readonly lines: readonly string[]
  /** Texts for parameters that have none; `null` if there was no list to take out. */
  readonly moved: Readonly<Record<string, string>> | null
}

/**
 * Takes out the first list of parameters, if each of its lines is about a parameter of the schema
 * and none says anything that the schema would not say then.
 */
function withoutArguments(
  lines: readonly string[],
  parameters: readonly DefinedParameter[],
): WithoutArguments {
  const unchanged = { lines, moved: null }
  const start = lines.findIndex(line => ARGUMENTS.test(line))
  if (start === -1) return unchanged
  const own = new Map(parameters.map(({ name, description }) => [name, description]))
  const moved: Record<string, string> = Object.create(null)
  let end = start + 1
  for (; end < lines.length; end++) {
    const line = lines[end]!
    if (line.trim() === '') continue
    const [, name = '', text = ''] = ARGUMENT.exec(line) ?? []
    const described = own.get(name)
    if (described === undefined) break
    if (described === '') moved[name] = text.trim()
    else if (!says(described, text)) return unchanged
  }
  const isList = lines.slice(start + 1, end).some(line => line.trim() !== '')
  // A line that is indented more continues the last parameter's text.
  const follows = end < lines.length && /^\s/.test(lines[end]!) && !isHeading(lines[end]!)
  if (!isList || follows) return unchanged
  return { lines: [...lines.slice(0, start), ...lines.slice(end)], moved }
}

function isHeading(line: string): boolean {
  return /:\s*$|^\s*#/.test(line)
}

/** Whether a text holds another one, whatever the case, the white space and the last full stop. */
function says(text: string, part: string): boolean {
  const plain = (each: string) => each.toLowerCase().replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  return plain(text).includes(plain(part))
}
