import { ObjectValue, type Value } from '../json/value.ts'

const MAX_KEYWORDS = 32
/** Shorter words are in the names of too many fields. */
const MIN_LENGTH = 3
const MAX_LENGTH = 64
/** Characters of an intent, or of arguments, that are read. */
const MAX_READ = 16_384

/** Words of questions that are in no name of a field, or in any. */
const STOP_WORDS = new Set(
  'the and for with from that this what which who how why are was were has have had not all any can about into over under than then there their its our your you get set list show find give need want please'.split(
    ' ',
  ),
)

/**
 * The keywords of an intent: lower-case words of three letters or more, each once, at most 32. The
 * intent is what the client states of it, else the texts among the call's own arguments.
 */
export function intentKeywords(intent: string | undefined, args?: Value): readonly string[] {
  const text = intent ?? textsOf(args).join(' ')
  const words =
    text
      .slice(0, MAX_READ)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const telling = words.filter(word => {
    return word.length >= MIN_LENGTH && word.length <= MAX_LENGTH && !STOP_WORDS.has(word)
  })
  return [...new Set(telling)].slice(0, MAX_KEYWORDS)
}

/** The strings among arguments, and those in lists of theirs. */
function textsOf(args: Value | undefined): readonly string[] {
  if (!(args instanceof ObjectValue)) return []
  return args.values.flatMap(value => {
    if (typeof value === 'string') return [value.slice(0, MAX_READ)]
    if (!Array.isArray(value)) return []
    return value.slice(0, MAX_KEYWORDS).filter(item => typeof item === 'string')
  })
}
