import { isDeepStrictEqual } from 'node:util'
import { applyEdits, type FormattingOptions, modify, type ParseError, parse } from 'jsonc-parser'

/** A member of a JSON file, by its path, and its new value. */
export type Member = readonly [path: readonly string[], value: string]

/**
 * JSON, with comments or without, with other values of some members. All else stays as it is.
 * @throws Error for a text that is no JSON object, or has another value where a table is needed
 */
export function editJson(text: string, members: readonly Member[]): string {
  const root = rootOf(text)
  const formattingOptions = formattingOf(root)
  const edited = members.reduce((before, [path, value]) => {
    if (jsonAt(before, path) === value) return before
    return applyEdits(before, modify(before, [...path], value, { formattingOptions }))
  }, root)
  for (const [path, value] of members) {
    if (jsonAt(edited, path) !== value) throw new Error(`${path.join('.')} cannot be set in it`)
  }
  return edited
}

/**
 * JSON with one more item at the end of a list, which is made if there is none. All else stays.
 * @throws Error for a text that is no JSON object, or has something else than a list there
 */
export function appendJson(text: string, path: readonly string[], item: object): string {
  const root = rootOf(text)
  const list = jsonAt(root, path) ?? []
  if (!Array.isArray(list)) throw new Error(`${path.join('.')} is no list`)
  const edited = applyEdits(
    root,
    modify(root, [...path, list.length], item, {
      formattingOptions: formattingOf(root),
      isArrayInsertion: true,
    }),
  )
  if (!isDeepStrictEqual(jsonAt(edited, path), [...list, item])) {
    throw new Error(`${path.join('.')} cannot be set in it`)
  }
  return edited
}

function rootOf(text: string): string {
  const root = text.trim() === '' ? '{}\n' : text
  readObject(root)
  return root
}

/** The way in which a text is indented. */
function formattingOf(root: string): FormattingOptions {
  return {
    insertSpaces: !/^\t/m.test(root),
    tabSize: /^( +)"/m.exec(root)?.[1]?.length ?? 2,
    eol: root.includes('\r\n') ? '\r\n' : '\n',
  }
}

/** The value at a path of JSON; `undefined` if there is none. @throws Error if it is no JSON */
export function jsonAt(text: string, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => {
    const isTable = typeof at === 'object' && at !== null && Object.hasOwn(at, key)
    return isTable ? (at as Record<string, unknown>)[key] : undefined
  }, readObject(text))
}

function readObject(text: string): unknown {
  const errors: ParseError[] = []
  const root: unknown = text.trim() === '' ? {} : parse(text, errors, { allowTrailingComma: true })
  const isObject = typeof root === 'object' && root !== null && !Array.isArray(root)
  if (errors.length > 0 || !isObject) throw new Error('it is no JSON object')
  return root
}
