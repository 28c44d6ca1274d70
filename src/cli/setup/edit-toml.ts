import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'

/**
 * TOML with another text as the value of a key at its top. All other lines stay as they are.
 * @throws Error for a text that is no TOML, or if nothing else can be shown to stay
 */
export function editToml(text: string, key: string, value: string): string {
  const before = read(text)
  if (before[key] === value) return text
  const line = `${key} = ${JSON.stringify(value)}`
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = text.split('\n')
  const firstTable = lines.findIndex(each => /^\s*\[/.test(each))
  const top = firstTable === -1 ? lines : lines.slice(0, firstTable)
  const at = top.findIndex(each => new RegExp(`^\\s*["']?${key}["']?\\s*=`).test(each))
  const edited =
    at === -1
      ? `${line}${eol}${text}`
      : lines
          .map((each, i) => (i === at ? line + (each.endsWith('\r') ? '\r' : '') : each))
          .join('\n')
  if (isDeepStrictEqual(readOrNull(edited), { ...before, [key]: value })) return edited
  throw new Error(`${key} cannot be set in it without changing more: change it by hand`)
}

/**
 * TOML with a text as the value of a key in a table. All other lines stay as they are.
 * @throws Error as `editToml` does
 */
export function editTomlTable(
  text: string,
  [table, key]: readonly [string, string],
  value: string,
): string {
  const before = read(text)
  /** A value of which the table has the key. */
  const withKey = (tree: typeof before) => {
    return { ...tree, [table]: { ...(tree[table] as object | undefined), [key]: value } }
  }
  const isSet = (tree: typeof before | null) =>
    tree !== null &&
    Object(tree[table])[key] === value &&
    isDeepStrictEqual(withKey(tree), withKey(before))
  if (isSet(before)) return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = text === '' ? [] : text.split(/\r?\n/)
  const line = `${key} = ${JSON.stringify(value)}`
  const head = lines.findIndex(each => new RegExp(`^\\s*\\[\\s*${table}\\s*\\]`).test(each))
  const next = lines.findIndex((each, i) => i > head && /^\s*\[/.test(each))
  const end = next === -1 ? lines.length : next
  const at = lines.findIndex(
    (each, i) => i > head && i < end && new RegExp(`^\\s*${key}\\s*=`).test(each),
  )
  if (head === -1) lines.push(`[${table}]`, line, '')
  else if (at === -1) lines.splice(head + 1, 0, line)
  else lines[at] = line
  const edited = lines.join(eol)
  if (isSet(readOrNull(edited))) return edited
  throw new Error(`${table}.${key} cannot be set in it without changing more: change it by hand`)
}

function readOrNull(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return read(text)
  } catch {
    return null
  }
}

/** The text at a key at the top of TOML; `undefined` if there is none. */
export function tomlAt(text: string, key: string): unknown {
  return read(text)[key]
}

function read(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...parse(text) }
  } catch (error) {
    throw new Error(`it is no TOML: ${(error as Error).message.split('\n', 1)[0]}`)
  }
}
