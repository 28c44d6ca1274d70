import { AppError } from '../../base/errors.ts'
import type { Change } from '../../hints/hint.ts'
import { type Scalar, writePlace, writeScalar } from '../../hints/text-slot.ts'
import {
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../../json/char-codes.ts'
import { parseJson } from '../../json/parse-json.ts'
import { passOverScalar, passOverString } from '../../json/text-tokens.ts'
import { NumberLiteral, ObjectValue } from '../../json/value.ts'
import { writeJson, writePathStep } from '../../json/write-json.ts'

/**
 * UTF-8 bytes that all changes may take as a hint lists them, and that the new body must have at
 * least: the seed's bounds. A longer list is harder to read than the text that it replaces.
 */
export const MAX_DELTA_BYTES = 50
export const MIN_BODY_BYTES = 500

/**
 * The scalars in which a JSON object differs from an earlier one with the same keys, order, shapes
 * and layout, at any depth. The earlier text with these changes gives the very bytes of the new
 * one; this is checked before it is returned. Linear. Ends at the first difference that is not in a
 * scalar, or when the list is too long.
 * @returns `null` if the texts are equal, differ in anything else, or in too much
 */
export function findChanges(earlier: string, text: string): readonly Change[] | null {
  // A change of n characters takes at least n bytes of the list.
  if (Math.abs(earlier.length - text.length) > MAX_DELTA_BYTES) return null
  if (Buffer.byteLength(text) < MIN_BODY_BYTES || earlier === text) return null
  const changes = differingScalars(earlier, text)
  if (changes === null || changes.length === 0) return null
  const parsed = parseJson(text)
  if (!parsed.ok || !(parsed.value instanceof ObjectValue)) return null
  return isRestored(earlier, changes, text) ? changes : null
}

function isRestored(earlier: string, changes: readonly Change[], text: string): boolean {
  try {
    return restoreNear(earlier, changes) === text
  } catch (error) {
    // The text has two members of one name, or a spelling that we do not write.
    if (error instanceof AppError) return false
    throw error
  }
}

/**
 * The differing scalars of two texts that are otherwise equal; `null` if they differ in more, or
 * the list is too long.
 */
function differingScalars(earlier: string, text: string): Change[] | null {
  const old = createScalarScanner(earlier)
  const now = createScalarScanner(text)
  const changes: Change[] = []
  let bytes = 0
  for (;;) {
    const oldEnd = old.end()
    const nowEnd = now.end()
    const more = old.next()
    if (now.next() !== more) return null
    const oldStart = more ? old.start() : earlier.length
    const nowStart = more ? now.start() : text.length
    if (earlier.slice(oldEnd, oldStart) !== text.slice(nowEnd, nowStart)) return null
    if (!more) return changes
    const before = earlier.slice(oldStart, old.end())
    const after = text.slice(nowStart, now.end())
    if (before === after) continue
    const from = scalarOf(before)
    const to = scalarOf(after)
    if (from === undefined || to === undefined) return null
    const path = now.path()
    if (path === null) return null
    const change = { path, from, to }
    bytes += listedBytes(change)
    if (bytes > MAX_DELTA_BYTES) return null
    changes.push(change)
  }
}

/** The scalar that a token is, or `undefined` for anything else. */
function scalarOf(token: string): Scalar | undefined {
  const parsed = parseJson(token)
  if (!parsed.ok) return undefined
  const { value } = parsed
  if (value === null || value instanceof NumberLiteral || typeof value !== 'object') return value
  return undefined
}

/** Bytes of a change in a hint, with the comma before it. */
function listedBytes({ path, from, to }: Change): number {
  return Buffer.byteLength(`, ${writePlace(path)}: ${writeScalar(from)}→${writeScalar(to)}`)
}

/**
 * The text that a near reference represents: the earlier JSON with these scalars in place of the
 * old ones, all else unchanged, byte for byte. Linear.
 * @throws AppError `not_decodable` if the earlier text has no such scalar at one of the places
 */
export function restoreNear(earlier: string, changes: readonly Change[]): string {
  const pending = new Map(changes.map(change => [change.path, change]))
  /** The scalars to replace, as JSON. Only their paths are computed. */
  const replaced = new Set(changes.map(({ from }) => writeJson(from)))
  const scanner = createScalarScanner(earlier)
  let out = ''
  let copied = 0
  while (pending.size > 0 && scanner.next()) {
    const token = earlier.slice(scanner.start(), scanner.end())
    if (!replaced.has(token)) continue
    const path = scanner.path()
    const change = path === null ? undefined : pending.get(path)
    if (path === null || change === undefined || writeJson(change.from) !== token) continue
    pending.delete(path)
    out += earlier.slice(copied, scanner.start()) + writeJson(change.to)
    copied = scanner.end()
  }
  if (pending.size > 0) {
    throw new AppError('not_decodable', 'the earlier result has no such value at a changed place')
  }
  return out + earlier.slice(copied)
}

/**
 * Walks over the scalars of a JSON text in their order. It does not check the text; if that is not
 * JSON, the results are meaningless.
 */
interface ScalarScanner {
  /** Goes to the next scalar. Returns `false` if there is none. */
  next(): boolean
  /** Start and end of the scalar, in UTF-16 code units. */
  start(): number
  end(): number
  /**
   * Its place: the key, or from two levels on a JSON path such as `$.jobs[2].status`. Returns
   * `null` if it is nested more than 32 deep, or the text is no JSON.
   */
  path(): string | null
}

/** A level of nesting: an array with the index it is at, or an object with the key. */
interface Level {
  isArray: boolean
  index: number
  keyStart: number
  keyEnd: number
}

/** Paths of deeper scalars would be longer than what they save; this bounds the work for each. */
const MAX_DEPTH = 32

export function createScalarScanner(text: string): ScalarScanner {
  const levels: Level[] = []
  let start = 0
  let end = 0

  function next(): boolean {
    for (let at = end; at < text.length; ) {
      const code = text.charCodeAt(at)
      switch (code) {
        case OPEN_BRACE:
        case OPEN_BRACKET:
          levels.push({ isArray: code === OPEN_BRACKET, index: 0, keyStart: -1, keyEnd: -1 })
          at++
          break
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          levels.pop()
          at++
          break
        case COMMA: {
          const level = levels.at(-1)
          if (level !== undefined) {
            level.index++
            level.keyStart = -1
          }
          at++
          break
        }
        case COLON:
        case SPACE:
        case TAB:
        case LINE_FEED:
        case CARRIAGE_RETURN:
          at++
          break
        default: {
          const after = code === QUOTE ? passOverString(text, at) : passOverScalar(text, at)
          const level = levels.at(-1)
          if (level !== undefined && !level.isArray && level.keyStart < 0) {
            level.keyStart = at
            level.keyEnd = after
            at = after
            break
          }
          start = at
          end = after
          return true
        }
      }
    }
    end = text.length
    return false
  }

  function path(): string | null {
    if (levels.length > MAX_DEPTH) return null
    const keys = levels.map(level => (level.isArray ? level.index : keyOf(level)))
    const [only] = keys
    if (keys.length === 1 && typeof only === 'string' && isPlain(only)) return only
    let path = '$'
    for (const key of keys) {
      if (key === null) return null
      path += writePathStep(key)
    }
    return path
  }

  function keyOf({ keyStart, keyEnd }: Level): string | null {
    const parsed = parseJson(text.slice(keyStart, keyEnd))
    return parsed.ok && typeof parsed.value === 'string' ? parsed.value : null
  }

  return { next, start: () => start, end: () => end, path }
}

/** Whether a key by itself can be read neither as a JSON path nor as a range of lines. */
function isPlain(key: string): boolean {
  return !key.startsWith('$') && !key.startsWith('lines ')
}
