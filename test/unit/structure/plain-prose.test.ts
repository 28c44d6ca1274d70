import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** Most columns of a line of prose in a page, and of a comment. */
const MAX_COLUMNS = 100
/** Most words of a sentence on average in a page. */
const MAX_MEAN_WORDS = 18
/** From this many words on a sentence is long; at most this share of a page's sentences is. */
const LONG_WORDS = 26
const MAX_LONG_SHARE = 1 / 8

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'SOURCES.md',
  ...globSync('docs/**/*.md', { cwd: root }).sort(),
]

/** Phrases in comments that a reader has to read twice, and what to write instead. */
const HARD_PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\btaken for\b/, 'read as, counted as'],
  [/\bon record\b/, 'recorded'],
  [/\bfor want of\b/, 'because there is no'],
  [/\bas good as\b/, 'counts as'],
  [/\bstands? in for\b/, 'replaces'],
  [/\bgoes on\b/, 'continues'],
  [/\bhangs?\b/, 'is below'],
  [/\bfor what (?:is|has) no/, 'if it is not'],
  [/^\s*(?:\/\*\*|\/\/)\s+Of\b/, 'a subject first'],
]

/** The paragraphs and list items of a page, without tables, fences, headings and indented code. */
function paragraphsOf(page: string): readonly (readonly string[])[] {
  const paragraphs: string[][] = []
  let current: string[] = []
  let fence = ''
  const end = () => {
    if (current.length > 0) paragraphs.push(current)
    current = []
  }
  for (const line of page.split('\n')) {
    const ticks = /^\s*(`{3,})/.exec(line)?.[1] ?? ''
    if (fence === '' ? ticks !== '' : ticks.length >= fence.length) {
      end()
      fence = fence === '' ? ticks : ''
    } else if (fence !== '' || line.trim() === '' || /^\s*\||^#/.test(line)) end()
    else if (current.length > 0 || !line.startsWith('    ')) {
      if (/^\s*(?:[-*]|\d+\.) /.test(line)) end()
      current.push(line)
    }
  }
  end()
  return paragraphs
}

/** Words of each sentence; code in backticks and a link's address count as one word. */
function sentenceLengths(paragraph: readonly string[]): readonly number[] {
  const text = paragraph
    .join(' ')
    .replaceAll(/`[^`]*`/g, 'x')
    .replaceAll(/\]\([^)]*\)/g, ']')
  return text
    .split(/(?<=[.!?:;]\)?)\s+/)
    .map(sentence => sentence.match(/\S*\w\S*/g)?.length ?? 0)
    .filter(words => words > 2)
}

/** Lines that are too wide although they could be broken before their last word. */
function wideLines(page: string): readonly string[] {
  const isWide = (line: string) => [...line].length > MAX_COLUMNS && / \S*$/.test(line.trim())
  return paragraphsOf(page).flatMap(lines => lines.filter(isWide))
}

/** Comments with one of the hard phrases. Their lines are joined, since a phrase may be broken. */
function hardPhrases(source: string): readonly string[] {
  const comments = source.match(/\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm) ?? []
  const texts = comments.map(each => each.replaceAll(/\s*\n\s*(?:\*|\/\/)\s?/g, ' '))
  return HARD_PHRASES.flatMap(([phrase, instead]) =>
    texts.filter(text => phrase.test(text)).map(text => `${text} (instead: ${instead})`),
  )
}

describe.each(PAGES)('%s', name => {
  const page = read(name)
  const lengths = paragraphsOf(page).flatMap(sentenceLengths)

  it('a document has short sentences', () => {
    const words = lengths.reduce((sum, each) => sum + each, 0)
    expect(words / lengths.length).toBeLessThan(MAX_MEAN_WORDS)
    const long = lengths.filter(each => each >= LONG_WORDS).length
    expect(long / lengths.length).toBeLessThan(MAX_LONG_SHARE)
  })
})

describe.each(PAGES)('%s', name => {
  it('has lines of at most 100 columns', () => {
    expect(wideLines(read(name))).toEqual([])
  })
})

describe('the comments of src and workers', () => {
  const sources = globSync(['src/**/*.ts', 'workers/**/*.ts'], { cwd: root })

  it('fit 100 columns, except for rows of tables', () => {
    const isWide = (line: string) =>
      /^\s*(?:\* (?!\|)|\/[/*])/.test(line) && [...line].length > MAX_COLUMNS
    const found = sources.flatMap(file => read(file).split('\n').filter(isWide))
    expect(found).toEqual([])
  })

  it('have no phrase that has to be read twice', () => {
    expect(sources.length).toBeGreaterThan(400)
    expect(sources.flatMap(file => hardPhrases(read(file)))).toEqual([])
  })
})

describe('the reading of pages and comments', () => {
  const page = [
    '# A heading of more than four words',
    '',
    'One two three. Four five six',
    'seven, `a b c` (see [nine ten](x/y.md)).',
    '- An item of five words.',
    '| a table | with words |',
    '````',
    '```',
    'Not prose at all.',
    '````',
    '',
    '    indented code of words',
  ].join('\n')

  it('counts the words of each sentence of the prose', () => {
    expect(paragraphsOf(page).flatMap(sentenceLengths)).toEqual([3, 8, 5])
  })

  it('finds lines that could be broken, and no others', () => {
    const wide = `${'word '.repeat(21)}end`
    expect(wideLines([wide, '', '```', wide, '```', `| ${wide} |`].join('\n'))).toEqual([wide])
    expect(wideLines(`\`${'x'.repeat(120)}\``)).toEqual([])
  })

  it('finds a phrase that is broken over two lines, and none in code', () => {
    const source = ['/**', ' * It is taken', ' * for another.', ' */', "const a = 'goes on'", '']
    expect(hardPhrases(source.join('\n'))).toHaveLength(1)
    expect(hardPhrases('// What it is\n// on record for.\nf()\n')).toHaveLength(1)
  })
})
