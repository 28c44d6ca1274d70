import { ObjectValue, type Value } from '../../json/value.ts'
import { notDecodable } from '../not-decodable.ts'
import { countOf } from '../work.ts'
import { cheapestJson, innerStyle, readInnerStyle } from './inner-json.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'
import { countBlanks, readYaml } from './yaml/read-yaml.ts'
import { writeYaml } from './yaml/write-yaml.ts'
import {
  BLANK_DEPTHS,
  type BlankRule,
  layoutWord,
  readLayoutWord,
  type YamlLayout,
} from './yaml/yaml-layout.ts'
import { findEntry, findSpacedEntry, isItem, mayBeOutermost } from './yaml/yaml-lines.ts'
import { countQuotes } from './yaml/yaml-scalars.ts'

/**
 * YAML as text, such as manifests, specifications and lock files: its value in a value format. The
 * layout is the style. What does not follow the layout is in the value as its source: comments,
 * anchors, other quotes, collections in braces.
 */
export const yaml: TextFormat = {
  id: 'yaml',
  version: 1,
  accepts: beginsLikeYaml,
  steps: text => text.length * CHAR_STEPS + countOf(text, '\n') * LINE_STEPS,
  encode,
  decode,
}

/** Steps of a character and of a line. */
const CHAR_STEPS = 40
const LINE_STEPS = 2500
const FEWEST_LINES = 4
const DOCUMENT_LINE = '---'
/** Most that a style says. */
const MOST_END = 99
const MOST_STEP = 8

/** Lines that are looked at for keys. */
const MOST_LOOKED_AT = 200
const FEWEST_KEYS = 3

/** Whether values follow their keys after a space, as in lock files of Yarn's first version. */
function hasSpacedValues(text: string): boolean {
  // A rare first letter is found faster than one that each line begins with.
  return text.includes('version "') && text.includes('\n  version "')
}

/** Whether the text begins with a block, and a few of its lines have keys. */
function beginsLikeYaml(text: string): boolean {
  const isSpaced = hasSpacedValues(text)
  let keys = 0
  let isFirst = true
  for (let at = 0, seen = 0; at < text.length && seen < MOST_LOOKED_AT; seen++) {
    const feed = text.indexOf('\n', at)
    const end = feed === -1 ? text.length : feed
    const line = text.slice(at, end).trimStart()
    at = end + 1
    if (line === '' || line.startsWith('#') || line === DOCUMENT_LINE) continue
    const itself = isItem(line) ? line.slice(2) : line
    const hasKey = findEntry(itself) !== null || (isSpaced && findSpacedEntry(itself) !== null)
    if (isFirst && !hasKey) return false
    isFirst = false
    if (hasKey && ++keys === FEWEST_KEYS) return true
  }
  return false
}

function encode(text: string, tools: TextTools): readonly WrittenText[] {
  let length = text.length
  while (length > 0 && text[length - 1] === '\n') length--
  const end = text.length - length
  const lines = text.slice(0, length).split('\n')
  if (lines.length < FEWEST_LINES || end > MOST_END) return []
  const documents = splitDocuments(lines)
  const head = documents.length > 1 && documents[0]!.length === 0
  if (head) documents.shift()
  const colon = !hasSpacedValues(text)
  if (!documents.every(each => each.every(line => mayBeOutermost(line, colon)))) return []
  const layout = {
    ...guessLayout(lines, colon),
    head,
    many: documents.length > 1,
    end,
  }
  const read = readDocuments(documents, layout)
  if (read === undefined) return []
  const value = layout.many ? read.values : read.values[0]!
  // Only many line feeds at the end, which the style counts, could be worth that.
  if (end <= 1 && isLoneText(value)) return []
  if (writeYaml(value, read.layout, text.length) !== text) return []
  const inner = cheapestJson(value, tools, text.length, () => true)
  if (inner === null) return []
  return [{ content: inner.content, style: innerStyle(layoutWord(read.layout), [inner.format]) }]
}

/**
 * Whether the value is one key with a text, such as a remark above the lines of a file. A value
 * format writes all characters of both, and signs around them, so it takes more than the text does.
 */
function isLoneText(value: Value): boolean {
  return (
    value instanceof ObjectValue && value.keys.length === 1 && typeof value.values[0] === 'string'
  )
}

function splitDocuments(lines: readonly string[]): string[][] {
  const documents: string[][] = [[]]
  for (const line of lines) {
    if (line === DOCUMENT_LINE) documents.push([])
    else documents.at(-1)!.push(line)
  }
  return documents
}

/** The values by the layout, with the rule for blank lines that most members follow. */
function readDocuments(
  documents: readonly (readonly string[])[],
  guessed: YamlLayout,
): { values: readonly Value[]; layout: YamlLayout } | undefined {
  const counts = countBlanks()
  let layout = guessed
  let values = documents.map(lines => readYaml(lines, layout, counts))
  if (values.includes(undefined)) return undefined
  const blanks = Array.from({ length: BLANK_DEPTHS }, (_, depth): BlankRule => {
    const { between, notBetween, first, notFirst } = counts
    if (between[depth]! + first[depth]! <= notBetween[depth]!) return 'n'
    return first[depth]! > notFirst[depth]! ? 'a' : between[depth]! > notBetween[depth]! ? 'b' : 'n'
  })
  if (blanks.some(rule => rule !== 'n')) {
    layout = { ...layout, blanks }
    values = documents.map(lines => readYaml(lines, layout, counts))
  }
  return { values: values as readonly Value[], layout }
}

/** What most lines follow. */
function guessLayout(lines: readonly string[], colon: boolean): YamlLayout {
  const steps = new Array<number>(MOST_STEP + 1).fill(0)
  const dashes = new Array<number>(MOST_STEP + 1).fill(0)
  const quotes = countQuotes()
  let inBrackets = 0
  let scalarItems = 0
  let keyIndent = -1
  for (const line of lines) {
    const trimmed = line.trimStart()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const indent = line.length - trimmed.length
    const itself = isItem(trimmed) ? trimmed.slice(2) : trimmed
    if (keyIndent !== -1) {
      const counts = itself === trimmed ? steps : dashes
      if (indent - keyIndent >= 0 && indent - keyIndent <= MOST_STEP) counts[indent - keyIndent]!++
    }
    const entry = findEntry(itself)
    const rest = entry?.rest ?? itself
    if (entry === null) {
      if (itself !== trimmed && /^[\w"'.-]/.test(rest)) scalarItems++
    } else if (/^["']/.test(entry.key)) quotes.add(entry.key)
    if (/^["'A-Za-z]/.test(rest) && (entry !== null || itself !== trimmed)) quotes.add(rest)
    if (/^\[[^[\]{}]+\]$/.test(rest)) inBrackets++
    keyIndent = entry !== null && rest === '' ? indent + trimmed.length - itself.length : -1
  }
  return {
    step: Math.max(1, mostOf(steps, 1)),
    dash: mostOf(dashes, 0),
    quotes: quotes.rule(),
    flow: inBrackets * 2 > scalarItems,
    colon,
    blanks: new Array<BlankRule>(BLANK_DEPTHS).fill('n'),
    head: false,
    many: false,
    end: 0,
  }
}

/** The place of the largest count; 2 if there is none. */
function mostOf(counts: readonly number[], from: number): number {
  let best = 2
  for (let at = from; at < counts.length; at++) if (counts[at]! > counts[best]!) best = at
  return best
}

function decode(content: string, style: string, maxChars: number): string {
  const read = readInnerStyle(style)
  const format = read?.formats.values().next().value
  const layout = readLayoutWord(read?.spacing ?? '')
  if (format === undefined || layout === undefined) {
    throw notDecodable(content, 0, 'no known style of YAML')
  }
  return writeYaml(format.decode(content), layout, maxChars)
}
