/**
 * Finds the parts of a text that a reducer must keep. It is a second implementation, independent of
 * the reducers that it tests.
 */
export const BENCH_KINDS = ['json', 'diff', 'search', 'code', 'log', 'prose', 'other'] as const
export type BenchKind = (typeof BENCH_KINDS)[number]

const CODE_FILES = new Set(
  'c cc cpp cs ex go h java js jsx kt lua mjs php py rb rs scala sh swift ts tsx zig'.split(' '),
)
const PROSE_FILES = new Set(['md', 'mdx', 'txt', 'rst'])

/** The kind of a recorded result, by its text and by the file that it was read from. */
export function kindOf(text: string, file: string): BenchKind {
  if (isJson(text)) return 'json'
  const lines = text.split('\n')
  const extension = file.slice(file.lastIndexOf('.') + 1).toLowerCase()
  if (extension === 'log') return 'log'
  if (lines.some(line => line.startsWith('@@ -')) && lines.some(line => line.startsWith('+++ '))) {
    const changed = lines.filter(line => '+-@ '.includes(line.charAt(0)) && line !== '')
    if (changed.length >= lines.length / 2) return 'diff'
  }
  if (lines.filter(isMatch).length >= Math.max(5, lines.length / 2)) return 'search'
  if (CODE_FILES.has(extension)) return 'code'
  if (PROSE_FILES.has(extension)) return 'prose'
  return saysLevels(lines) ? 'log' : 'other'
}

function isJson(text: string): boolean {
  const first = text.trimStart().charAt(0)
  if (first !== '[' && first !== '{') return false
  try {
    JSON.parse(text)
    return true
  } catch {
    // The text only begins like JSON.
    return false
  }
}

/** `path:12:text`, by hand. */
function isMatch(line: string): boolean {
  const [path = '', number = '', ...rest] = line.split(':', 3)
  return rest.length > 0 && path.includes('.') && number !== '' && Number.isInteger(Number(number))
}

function saysLevels(lines: readonly string[]): boolean {
  const levels = lines.filter(line => / (?:INFO|DEBUG|WARN|ERROR) /.test(` ${line.slice(0, 200)} `))
  return lines.length >= 10 && levels.length >= lines.length / 4
}

const FAILURES = new Set(
  (
    'error errors failed failure failures fail fatal panic panicked exception exceptions traceback critical ' +
    'warn warning warnings denied refused aborted timeout segfault unhandled uncaught killed'
  ).split(' '),
)
const DEMANDS = new Set(['must', 'never', 'warning', 'deprecated', 'important', 'caution'])
const NOTES = new Set(['TODO', 'FIXME', 'XXX', 'HACK', 'throw', 'raise'])

/** The lines of a text that must stay unchanged; of JSON the items, as compact JSON. */
export function criticalParts(text: string, kind: BenchKind): readonly string[] {
  const lines = text.split('\n')
  switch (kind) {
    case 'json':
      return criticalItems(JSON.parse(text))
    case 'diff':
      return changedLines(lines)
    case 'code':
      return lines.filter(line => wordsOf(line).some(word => NOTES.has(word)) && !isComment(line))
    case 'prose':
      return sentences(text).filter(part =>
        wordsOf(part).some(word => DEMANDS.has(word.toLowerCase())),
      )
    case 'log':
      return firstOfEach(lines.filter(line => tellsFailure(line) || isFrame(line))).map(reported)
    case 'search':
      return lines.filter(line => isMatch(line) && tellsFailure(line.split(':').slice(2).join(':')))
    case 'other':
      return []
  }
}

/** Wider than any list of such files, so that no part is demanded that may go. */
const DERIVED = /lock|vendor|third_party|node_modules|generated|snap|\.min\.|\.map$|\.sum$|pb2?\./i

/** Changed lines of files that people write, without those that moved and those of new files. */
function changedLines(lines: readonly string[]): readonly string[] {
  const added = new Set(lines.filter(line => line.startsWith('+')).map(line => line.slice(1)))
  const changed: string[] = []
  let isWritten = true
  lines.forEach((line, at) => {
    if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      isWritten = !`${line} ${lines[at + 1]}`.includes('/dev/null') && !DERIVED.test(line)
    }
    if (!isWritten || line === '' || !'+-'.includes(line.charAt(0))) return
    if (line.startsWith('+') || !added.has(line.slice(1))) changed.push(line)
  })
  return changed
}

/** Lines of which no earlier one has the same words of letters. */
function firstOfEach(lines: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return lines.filter(line => {
    const words = (line.match(/[A-Za-z]{2,}/g) ?? []).join(' ')
    if (seen.has(words)) return false
    seen.add(words)
    return true
  })
}

/** What is around the first word for a failure, if the line is too long to be read. */
function reported(line: string): string {
  if (line.length <= READABLE) return line
  const from = Math.max(0, line.search(ANY_FAILURE) - PIECE / 2)
  return line.slice(from, from + PIECE)
}

const READABLE = 2_000
const PIECE = 120
const ANY_FAILURE = new RegExp(`\\b(?:${[...FAILURES].join('|')})\\b|Error\\b|Exception\\b`, 'i')

/** Runs of letters, digits and underscores. */
function wordsOf(line: string): readonly string[] {
  return line.match(/\w+/g) ?? []
}

function tellsFailure(line: string): boolean {
  return wordsOf(line).some(word => {
    if (FAILURES.has(word.toLowerCase())) return true
    return word.endsWith('Error') || word.endsWith('Exception')
  })
}

/** A frame of a trace: where in which file. */
function isFrame(line: string): boolean {
  const text = line.trim()
  return text.startsWith('File "') && text.includes('", line ')
    ? true
    : text.startsWith('at ') && text.endsWith(')')
}

/** One line alone does not show whether it is code or text in a comment over several lines. */
function isComment(line: string): boolean {
  const text = line.replace(/^\s*\d*[\t→]?\s*/, '')
  return (
    text.startsWith('*') ||
    text.startsWith('//') ||
    text.startsWith('#') ||
    text.startsWith('"') ||
    text.startsWith("'")
  )
}

function sentences(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap(line => line.split(/[.!?] /))
    .map(part => part.trim())
    .filter(part => part !== '')
}

/**
 * Items of long lists with a short text that reports a failure, or a field named for one and
 * is not empty.
 */
function criticalItems(value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    if (value.length >= 20) return value.filter(isFailedItem).map(item => JSON.stringify(item))
    return value.flatMap(criticalItems)
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(criticalItems)
    : []
}

function isFailedItem(item: unknown): boolean {
  if (typeof item === 'string') return item.length < 120 && tellsFailure(item)
  if (typeof item !== 'object' || item === null) return false
  return Object.entries(item).some(([key, member]) => {
    if (['error', 'errors', 'exception', 'failure'].includes(key.toLowerCase()) && member) {
      return typeof member === 'string' || member === true
    }
    return typeof member === 'string' && member.length < 120 && tellsFailure(member)
  })
}

/** The `parts` that are not in `left`, the decoded rest. JSON is compared by value. */
export function missingParts(
  parts: readonly string[],
  left: string,
  kind: BenchKind,
): readonly string[] {
  if (kind === 'json') {
    const items = new Set<string>()
    collect(JSON.parse(left), items)
    return parts.filter(part => !items.has(part))
  }
  const lines = new Set(left.split('\n'))
  return parts.filter(part => {
    const isPiece = kind === 'prose' || (kind === 'log' && part.length === PIECE)
    return !lines.has(part) && !(isPiece && left.includes(part))
  })
}

function collect(value: unknown, into: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      into.add(JSON.stringify(item))
      collect(item, into)
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) collect(member, into)
  }
}
