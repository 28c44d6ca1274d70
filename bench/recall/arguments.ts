/** Shorter arguments are in many texts by chance. */
const LEAST_CHARS = 12
/** Paths, identifiers, ids and numbers. */
const NAMES = /[A-Za-z0-9_@][\w./:@-]{11,}/g
/** Members that write a new text rather than name what there is. */
const WRITTEN = new Set(['new_string', 'content', 'new_source', 'newText', 'description', 'prompt'])
const QUOTED = new Set(['old_string', 'oldText', 'old_str'])

/** What a call names or quotes. */
export interface CallArguments {
  readonly needs: readonly string[]
  readonly isEdit: boolean
  /** All of its texts. */
  readonly texts: readonly string[]
}

export function argumentsOf(tool: string, args: unknown): CallArguments {
  const needs = new Set<string>()
  const texts: string[] = []
  let isEdit = false
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      texts.push(value)
      if (WRITTEN.has(key)) return
      if (QUOTED.has(key) || key === 'patch') {
        isEdit = true
        for (const line of quotedLines(value, key === 'patch')) needs.add(line)
      } else for (const [name] of value.matchAll(NAMES)) needs.add(name)
    } else if (Array.isArray(value)) for (const item of value) visit(item, key)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) visit(member, name)
    }
  }
  visit(args, tool)
  return { needs: [...needs], isEdit, texts }
}

function quotedLines(text: string, isPatch: boolean): readonly string[] {
  const lines = text.split('\n')
  const old = isPatch ? lines.filter(line => /^[- ]/.test(line)).map(line => line.slice(1)) : lines
  return old.map(line => line.trim()).filter(line => line.length >= LEAST_CHARS)
}

/** The same argument in shorter forms: a path without its first folders. */
export function* formsOf(argument: string): Generator<string> {
  for (let rest = argument; rest.length >= LEAST_CHARS; ) {
    yield rest
    const slash = rest.indexOf('/', 1)
    if (slash === -1 || /\s/.test(rest)) return
    rest = rest.slice(slash + 1)
  }
}
