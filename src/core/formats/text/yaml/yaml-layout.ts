/**
 * How a YAML text is laid out. All of the text that does not follow from its values and from these
 * rules is kept as it is, in strings that begin with `SOURCE_MARK`.
 */
export interface YamlLayout {
  /** Spaces by which a mapping below a key is deeper than the key. */
  readonly step: number
  /** The same of the dashes of a list. */
  readonly dash: number
  /** Quotes of strings that would be safe without, that mean something else, and of all others. */
  readonly quotes: QuoteRule
  /** Whether a list of scalars is written in brackets. */
  readonly flow: boolean
  /** Whether a key and its value have a colon between them; without one, the text is no YAML. */
  readonly colon: boolean
  /** For each of the first depths, where blank lines stand. */
  readonly blanks: readonly BlankRule[]
  /** Whether the first line is `---`. */
  readonly head: boolean
  /** Whether the value is a list of documents. */
  readonly many: boolean
  /** Line feeds at the end. */
  readonly end: number
}

/** None, double, single. */
export type Quote = 'n' | 'd' | 's'

export interface QuoteRule {
  readonly safe: Quote
  readonly unlike: 'd' | 's'
  readonly unsafe: 'd' | 's'
}

/**
 * Blank lines before members that are objects or lists: none, between them, or before the first one
 * of a block too.
 */
export type BlankRule = 'n' | 'b' | 'a'

/** Depths that have a rule for blank lines. */
export const BLANK_DEPTHS = 4

/** Begins a string that has the text as it is in the source, not the value that this means. */
export const SOURCE_MARK = '`'
/** The key of a comment, and of a blank line, which is an empty comment. */
export const COMMENT_KEY = '#'
/** In a list, a blank line. No scalar begins with a backtick in the source. */
export const BLANK_ITEM = '``'
/** As the text of a comment, and as an item of a list: no blank line, against the rule. */
export const NO_BLANK = '`'
export const NO_BLANK_ITEM = '``-'

const WORD = /^([1-8])-([0-8])-([nds])([ds])([ds])-([fb])([cs])([hn])([mo])-([nba]{4})-(\d{1,2})$/

/** The layout as a word of a style, for example `2-0-ndd-bcno-nnnn-1`. */
export function layoutWord(layout: YamlLayout): string {
  const { step, dash, quotes, flow, colon, head, many, blanks, end } = layout
  const letters = `${flow ? 'f' : 'b'}${colon ? 'c' : 's'}${head ? 'h' : 'n'}${many ? 'm' : 'o'}`
  const rule = `${quotes.safe}${quotes.unlike}${quotes.unsafe}`
  return [step, dash, rule, letters, blanks.join(''), end].join('-')
}

/** The layout of such a word, or `undefined`. */
export function readLayoutWord(word: string): YamlLayout | undefined {
  const match = WORD.exec(word)
  if (match === null) return undefined
  const [, step, dash, safe, unlike, unsafe, flow, colon, head, many, blanks, end] = match
  return {
    step: Number(step),
    dash: Number(dash),
    quotes: {
      safe: safe as Quote,
      unlike: unlike as 'd' | 's',
      unsafe: unsafe as 'd' | 's',
    },
    flow: flow === 'f',
    colon: colon === 'c',
    head: head === 'h',
    many: many === 'm',
    blanks: [...blanks!] as BlankRule[],
    end: Number(end),
  }
}
