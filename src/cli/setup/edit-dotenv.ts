/** Lines that set a variable, as `dotenv` reads them. */
function assignmentOf(name: string): RegExp {
  return new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=`)
}

/** A file of `NAME=value` lines with another value of a variable. All other lines stay. */
export function editDotenv(text: string, name: string, value: string): string {
  if (dotenvAt(text, name) === value) return text
  const line = `${name}=${value}`
  const lines = text.split('\n')
  // Readers take the last of several.
  const at = lines.findLastIndex(each => assignmentOf(name).test(each))
  if (at !== -1) {
    const eol = lines[at]?.endsWith('\r') ? '\r' : ''
    return lines.map((each, i) => (i === at ? line + eol : each)).join('\n')
  }
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = text === '' || text.endsWith('\n') ? '' : eol
  return `${text}${gap}${line}${eol}`
}

/** The value of a variable, without quotes; `undefined` if it is not set. */
export function dotenvAt(text: string, name: string): string | undefined {
  const line = text.split('\n').findLast(each => assignmentOf(name).test(each))
  if (line === undefined) return undefined
  const value = line.slice(line.indexOf('=') + 1).trim()
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
}
