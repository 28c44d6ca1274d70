/** Arguments of tools that hold the text that is replaced, in any letter case. */
const OLD_TEXT = /^old_?(?:string|text|str)$/i
/** Begins a patch, as arguments or in a command. */
const PATCH = /^(?:\*\*\* Begin Patch|--- \S|diff --git )/m
/** A line of a patch that must be in the file already. */
const IN_FILE = /^[ -](?!-- )/
/** Levels of arguments that are read. */
const MAX_DEPTH = 6

/**
 * The lines that a call quotes of a file, without the spaces around them: the text that it
 * replaces, and the lines of patches that are there already. Empty for a call that edits nothing.
 */
export function quotedLines(args: unknown): readonly string[] {
  const lines: string[] = []
  visit(args, (name, text) => {
    if (OLD_TEXT.test(name)) {
      for (const item of text.split('\n')) lines.push(item)
    } else if (PATCH.test(text)) {
      for (const line of text.split('\n')) if (IN_FILE.test(line)) lines.push(line.slice(1))
    }
  })
  return lines.map(line => line.trim())
}

/** All texts of a call's arguments: what the agent wrote itself. */
export function writtenTexts(args: unknown): readonly string[] {
  const texts: string[] = []
  visit(args, (name, text) => {
    if (!OLD_TEXT.test(name)) texts.push(text)
  })
  return texts
}

function visit(value: unknown, read: (name: string, text: string) => void, name = '', depth = 0) {
  if (typeof value === 'string') read(name, value)
  else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    for (const [key, inner] of Object.entries(value)) {
      visit(inner, read, Array.isArray(value) ? name : key, depth + 1)
    }
  }
}
