import { ObjectValue } from '../../json/value.ts'

/** The lines between and inside blocks that are the same for all. */
export interface Layout {
  /** Blank lines between two blocks. */
  readonly gap: number
  /** Blank lines before the text of a block. */
  readonly before: number
  /** Spaces before each line of a text that begins without one; others have their own. */
  readonly indent: number
  /** Line feeds after the last block. */
  readonly end: number
}

export interface ReadBlocks {
  readonly records: readonly ObjectValue[]
  readonly layout: Layout
}

/** The member with the text below the labels. */
const TEXT_KEY = 'text'

const FEWEST_BLOCKS = 2
/** Lines of a block on average. Blocks of a line are for other formats. */
const FEWEST_LINES = 2
/** No layout has more blank lines or spaces than two digits say. */
const MOST = 99

/** The lines of a block below its labels, and those of the labels. */
interface Block {
  readonly keys: string[]
  readonly values: string[]
  rest: readonly string[]
}

/** The records of a text; `null` if it is not made of blocks. Linear. */
export function readBlocks(text: string): ReadBlocks | null {
  const length = lengthWithoutEnd(text)
  const end = text.length - length
  const lines = text.slice(0, length).split('\n')
  const label = labelOf(lines[0] ?? '', true)
  if (label === null) return null
  const all = linesOfBlocks(lines, label)
  if (all.length < FEWEST_BLOCKS || lines.length < all.length * FEWEST_LINES) return null
  const blocks = all.map(each => readBlock(each, label))
  // Lines of a log may begin with the same word now and then, but hardly have other labels.
  const labelled = blocks.filter(({ keys }) => keys.length > 1)
  if (!label.includes(':') && labelled.length * 2 < blocks.length) return null
  const gap = least(blocks.slice(0, -1).map(({ rest }) => rest.length - lengthOfText(rest)))
  for (const block of blocks.slice(0, -1)) block.rest = block.rest.slice(0, block.rest.length - gap)
  const texts = blocks.filter(({ rest }) => rest.length > 0)
  const before = least(texts.map(({ rest }) => blankLinesBefore(rest)))
  const bare = texts.map(({ rest }) => rest.slice(before))
  const indent = indentOf(bare.flat().filter(line => line !== ''))
  if (Math.max(gap, before, indent, end) > MOST) return null
  for (const [i, { keys, values }] of texts.entries()) {
    if (keys.includes(TEXT_KEY)) return null
    keys.push(TEXT_KEY)
    values.push(bare[i]!.map(line => outdented(line, indent)).join('\n'))
  }
  const records = blocks.map(({ keys, values }) => new ObjectValue(keys, values))
  return { records, layout: { gap, before, indent, end } }
}

function linesOfBlocks(lines: readonly string[], label: string): readonly (readonly string[])[] {
  const blocks: string[][] = []
  for (const line of lines) {
    if (line.startsWith(label)) blocks.push([line])
    else blocks.at(-1)?.push(line)
  }
  return blocks
}

/** Labels come first, each with its continuation lines, which begin with white space. */
function readBlock(lines: readonly string[], first: string): Block {
  const keys = [keyOf(first)]
  const values = [lines[0]!.slice(first.length)]
  const known = new Set(keys)
  let at = 1
  for (; at < lines.length; at++) {
    const line = lines[at]!
    if (isContinuation(line)) {
      values[values.length - 1] += `\n${line}`
      continue
    }
    const label = labelOf(line, false)
    if (label === null || known.has(keyOf(label))) break
    known.add(keyOf(label))
    keys.push(keyOf(label))
    values.push(line.slice(label.length))
  }
  return { keys, values, rest: lines.slice(at) }
}

function isContinuation(line: string): boolean {
  return line.startsWith(' ') || line.startsWith('\t')
}

const MOST_LABEL_CHARS = 60
const NAME = /^[A-Za-z][\w()./+ \t-]*$/
const WORD = /^[a-z]{2,20} (?=\S)/

/**
 * What a line has before its value: a name with a colon and the white space around that. `null` if
 * there is none.
 * @param mayBeWord whether a word and a space are enough, as in `commit 8f6a0129`
 */
export function labelOf(line: string, mayBeWord: boolean): string | null {
  const colon = line.indexOf(':')
  if (colon > 0 && colon < MOST_LABEL_CHARS && NAME.test(line.slice(0, colon))) {
    let end = colon + 1
    while (line[end] === ' ' || line[end] === '\t') end++
    if (end > colon + 1 || end === line.length) {
      return end < 2 * MOST_LABEL_CHARS ? line.slice(0, end) : null
    }
  }
  return mayBeWord ? (WORD.exec(line)?.[0] ?? null) : null
}

/** Ends a name that is a whole label. All others lack a colon and a space. */
const WHOLE = /(?: |:|:\t+)$/

/** The name of a label in a record. */
function keyOf(label: string): string {
  const name = label.endsWith(': ') ? label.slice(0, -2) : label
  return WHOLE.test(name) ? label : name
}

function labelOfKey(key: string): string {
  return WHOLE.test(key) ? key : `${key}: `
}

/** Without the line feeds at its end. */
function lengthWithoutEnd(text: string): number {
  let length = text.length
  while (length > 0 && text[length - 1] === '\n') length--
  return length
}

function lengthOfText(lines: readonly string[]): number {
  let length = lines.length
  while (length > 0 && lines[length - 1] === '') length--
  return length
}

function blankLinesBefore(lines: readonly string[]): number {
  const at = lines.findIndex(line => line !== '')
  return at === -1 ? lines.length : at
}

/** That of the first line; 0 if a line has none. */
function indentOf(lines: readonly string[]): number {
  return lines.every(line => line.startsWith(' ')) ? spacesBefore(lines[0] ?? '') : 0
}

function spacesBefore(line: string): number {
  let at = 0
  while (line[at] === ' ') at++
  return at
}

/** A line that begins with a space from here on, or has fewer, stays. */
function outdented(line: string, indent: number): string {
  return spacesBefore(line) === indent ? line.slice(indent) : line
}

/** 0 if there is none. */
function least(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => Math.min(a, b), numbers[0] ?? 0)
}

/** The text of records; `null` if it is longer than `maxChars`. */
export function writeBlocks(
  records: readonly ObjectValue[],
  { gap, before, indent, end }: Layout,
  maxChars: number,
): string | null {
  const margin = ' '.repeat(indent)
  const parts: string[] = []
  let length = end
  for (const { keys, values } of records) {
    const lines = keys.map((key, i) => {
      const value = String(values[i])
      if (key !== TEXT_KEY) return labelOfKey(key) + value
      return '\n'.repeat(before) + indented(value, margin)
    })
    const part = lines.join('\n')
    length += part.length + gap + 1
    if (length - gap - 1 > maxChars) return null
    parts.push(part)
  }
  return parts.join('\n'.repeat(gap + 1)) + '\n'.repeat(end)
}

function indented(text: string, margin: string): string {
  return text
    .split('\n')
    .map(line => (line === '' || line.startsWith(' ') ? line : margin + line))
    .join('\n')
}
