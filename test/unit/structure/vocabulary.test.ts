import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** Places where an old word is meant literally: the file, and the line's text around the word. */
const MEANT_LITERALLY: readonly (readonly [file: string, text: string])[] = [
  ['docs/reference/formats.md', 'the EBNF notation of the XML recommendation'],
]

/** A line of prose, without what is quoted as code. */
interface Line {
  readonly file: string
  readonly number: number
  readonly text: string
}

const GLOSSARY = /\| term \| meaning \| replaces \|\n\|---\|---\|---\|\n((?:\|.*\n)+)/

/** The words of the glossary's last column. */
function replacedWords(contributing: string): readonly string[] {
  const rows = GLOSSARY.exec(contributing)?.[1]?.trimEnd().split('\n') ?? []
  const cells = rows.map(row => row.split('|')[3] ?? '')
  return cells.flatMap(cell => cell.split(',')).flatMap(word => word.trim() || [])
}

/** Comments that begin a line, are inside a block, or follow code. */
const COMMENT = /^\s*(?:\/\/|\/?\*)(.*)|\s\/\/ (.*)|\s\/\*\*? (.*)/

function commentsOf(file: string, source: string): readonly Line[] {
  return source.split('\n').flatMap((line, index) => {
    const [, whole, after, block] = COMMENT.exec(line) ?? []
    const comment = whole ?? after ?? block
    return comment === undefined ? [] : [{ file, number: index + 1, text: withoutCode(comment) }]
  })
}

/** The lines of a document outside code fences; the glossary's last column is left out. */
function proseOf(file: string, document: string): readonly Line[] {
  let inFence = false
  const lines = document.replace(GLOSSARY, table => table.replaceAll(/[^|\n]*\|$/gm, '|'))
  return lines.split('\n').flatMap((line, index) => {
    if (line.startsWith('```')) inFence = !inFence
    return inFence ? [] : [{ file, number: index + 1, text: withoutCode(line) }]
  })
}

function withoutCode(text: string): string {
  return text.replaceAll(/`[^`]*`/g, '``')
}

function findWords(lines: readonly Line[], words: readonly string[]): readonly string[] {
  const pattern = new RegExp(`\\b(?:${words.join('|')})\\b`, 'i')
  return lines
    .filter(({ text }) => pattern.test(text))
    .filter(({ file, text }) => !MEANT_LITERALLY.some(([f, t]) => f === file && text.includes(t)))
    .map(({ file, number, text }) => `${file}:${number}: ${text.trim()}`)
}

/** Old words that are only wrong in names: in prose they have another meaning as well. */
const OLD_IN_NAMES = ['told', 'worth', 'worths']

/** What is declared at the top level of a file. */
const DECLARATION =
  /^(?:export )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)/gm

/** Names with an old word as one of their parts: `findNotation`, `OLD_NOTATIONS`. */
function findNames(file: string, source: string, words: readonly string[]): readonly string[] {
  const old = new Set([...words, ...OLD_IN_NAMES])
  return [...source.matchAll(DECLARATION)].flatMap(([, name = '']) => {
    const parts = name.split(/_|(?<=[a-z0-9])(?=[A-Z])/)
    return parts.some(part => old.has(part.toLowerCase())) ? [`${file}: ${name}`] : []
  })
}

/** Texts of `--help` and `/openapi.json`: what follows the name of such a field. */
const SHOWN_TEXT = /\b(?:help|summary|details|title|description):\s*(['"`])((?:(?!\1).)*)\1/g

/** What a user reads of a source, by line. */
function shownTextsOf(file: string, source: string): readonly Line[] {
  return [...source.matchAll(SHOWN_TEXT)].map(({ index, 2: text = '' }) => ({
    file,
    number: source.slice(0, index).split('\n').length,
    text: withoutCode(text),
  }))
}

/** The forms of a comment in which "where" can only be a condition; it should be "if". */
const CONDITIONAL_WHERE = /(?:``|\bonly|\bempty|\bnothing|\b0|@throws \w+(?: ``)*) where\b/

const words = replacedWords(read('CONTRIBUTING.md'))
const sources = globSync(['src/**/*.ts', 'workers/**/*.ts'], { cwd: root })
const comments = sources.flatMap(file => commentsOf(file, read(file)))

describe('the glossary of CONTRIBUTING.md', () => {
  it('the glossary names words and what replaces them', () => {
    expect(words.length).toBeGreaterThan(15)
    expect(words).toContain('notation')
  })

  it('is kept in the comments of src and workers', () => {
    expect(sources.length).toBeGreaterThan(400)
    expect(findWords(comments, words)).toEqual([])
  })

  it('is kept in the names of src and workers', () => {
    expect(sources.flatMap(file => findNames(file, read(file), words))).toEqual([])
  })

  it('is kept in the texts of --help and of /openapi.json', () => {
    const texts = sources.flatMap(file => shownTextsOf(file, read(file)))
    expect(texts.length).toBeGreaterThan(100)
    expect(findWords(texts, words)).toEqual([])
  })

  it('has no "where" for a condition in a comment', () => {
    const found = comments.filter(({ text }) => CONDITIONAL_WHERE.test(text))
    expect(found.map(({ file, number, text }) => `${file}:${number}: ${text.trim()}`)).toEqual([])
  })

  it('is kept in the documents', () => {
    const documents = [
      'README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'SOURCES.md',
    ]
    const files = [...documents, ...globSync('docs/**/*.md', { cwd: root })]
    expect(
      findWords(
        files.flatMap(file => proseOf(file, read(file))),
        words,
      ),
    ).toEqual([])
  })
})

describe('the search for replaced words', () => {
  it('finds them in every kind of comment, but not in strings and quoted code', () => {
    const source = [
      '/** One notation. */',
      ' * Whoever calls',
      'const a = 1 // anew',
      'f( /* as it came */)',
      "const notation = 'anew'",
      '/** The field `notation`. */',
    ]
    const found = findWords(commentsOf('a.ts', source.join('\n')), words)
    expect(found.map(each => each.split(':')[1])).toEqual(['1', '2', '3', '4'])
  })

  it('finds them in texts that users read, and in no other string', () => {
    const source = [
      "help: 'for whoever reads',",
      'summary:',
      "  'One notation',",
      "const a = 'anew'",
    ]
    const found = findWords(shownTextsOf('a.ts', source.join('\n')), words)
    expect(found.map(each => each.split(':')[1])).toEqual(['1', '2'])
  })

  it('finds them as parts of names', () => {
    const source = [
      'export function findNotation() {}',
      'const OLD_NOTATIONS = 1',
      'export interface ToldResult {}',
      'const annotation = worthless',
      '  const notation = 2',
    ]
    const found = findNames('a.ts', source.join('\n'), words)
    expect(found).toEqual(['a.ts: findNotation', 'a.ts: OLD_NOTATIONS', 'a.ts: ToldResult'])
  })

  it('finds a "where" that is a condition, and no other', () => {
    const conditional = ['`null` where it does not', '@throws AppError `a` where it lies outside']
    const others = [
      'Only where the value lies.',
      'a service, where it is kept',
      'shows where it is',
    ]
    const isFound = (comment: string) => CONDITIONAL_WHERE.test(withoutCode(comment))
    expect([...conditional, ...others].map(isFound)).toEqual([true, true, false, false, false])
  })

  it('finds them in documents, but not in code and in the column that lists them', () => {
    const document = [
      '| term | meaning | replaces |',
      '|---|---|---|',
      '| format | a notation | notation |',
      '| again | once more | anew |',
      '',
      '```sh',
      'haversack notation',
      '```',
      'Redeemed by `notation`.',
    ]
    const found = findWords(proseOf('a.md', document.join('\n')), words)
    expect(found.map(each => each.split(':')[1])).toEqual(['3', '9'])
  })
})
