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
import { writePathStep } from '../../json/write-json.ts'

/**
 * Walks over the scalars of a JSON text in their order. It does not check the text; if that is not
 * JSON, the results are meaningless.
 */
export interface ScalarScanner {
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
