import { typedText } from '../base/typed-text.ts'
import { CARRIAGE_RETURN, LINE_FEED, OPEN_BRACKET, QUOTE, SPACE, TAB } from '../json/char-codes.ts'
import { parseJson } from '../json/parse-json.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import { type LineCounts, scanLines } from './scan-lines.ts'
import { scanWords } from './scan-words.ts'

/**
 * Formats looked for inside text and inside the strings of a JSON value, in the order they are
 * reported.
 */
export const INNER_FORMATS = [
  'url',
  'log',
  'hash',
  'diff',
  'md',
  'md_table',
  'md_with_code',
  'code_fence',
  'xml_html',
  'yaml',
  'stack_trace',
  'numbered_list',
  'inline_json',
  'prose',
] as const

export type InnerFormat = (typeof INNER_FORMATS)[number]

/** Which formats were met so far, over all texts scanned. */
export type Findings = Record<InnerFormat, boolean>

/** A shorter string cannot hold any of the formats: a hash of 7 digits plus something around it. */
const MIN_TEXT_LENGTH = 8
/** One line with a time stamp is a date in a sentence or a field; two in one text are a log. */
const MIN_LOG_LINES = 2
/** Lines "at …" of a stack trace; one alone also occurs in indented prose. */
const MIN_STACK_FRAMES = 2
/** An opening and a closing fence. */
export const MIN_FENCES = 2
/** Lines of a numbered file read, or of a list; fewer also occur by chance in prose. */
export const MIN_LIST_LINES = 3
/** Headings of Markdown; beside other structure one is enough, alone it may be a comment. */
const MIN_HEADINGS = 2
/** Lines `key: value`, and the share of lines that must be one, or a list item or comment. */
const MIN_YAML_LINES = 3
const MIN_YAML_SHARE = 2 / 3
/**
 * Words and ends of sentences of prose, and the share of its characters that are letters or white
 * space.
 */
const MIN_WORDS = 20
const MIN_SENTENCES = 2
const MIN_LETTER_SHARE = 0.8
/** No shorter text has so many words, with something between them. */
const MIN_PROSE_CHARS = 2 * MIN_WORDS - 1

const NO_FINDINGS = Object.fromEntries(INNER_FORMATS.map(format => [format, false])) as Findings

export function noFindings(): Findings {
  return { ...NO_FINDINGS }
}

/**
 * Looks for every inner format in one text, adds what it meets to `findings`, and gives the counts
 * of its lines. Each format costs at most one pass over the text.
 */
export function scanText(text: string, findings: Findings): LineCounts | undefined {
  if (text.length < MIN_TEXT_LENGTH) return undefined
  addWithinLines(text, findings)
  const counts = scanLines(text)
  addOfLines(counts, findings)
  return counts
}

/** A line by which a format is known although there is no other line. */
const TELLING_LINE = /^[ \t]*(?:@@ -|diff --git |Traceback)/

/** The same for a string of a JSON value, most of which are a line. */
export function scanString(string: string, findings: Findings): void {
  const text = typedText(string)
  if (text.length < MIN_TEXT_LENGTH) return
  addWithinLines(text, findings)
  if (text.includes('\n') || TELLING_LINE.test(text)) addOfLines(scanLines(text), findings)
}

function addWithinLines(string: string, findings: Findings): void {
  const text = typedText(string)
  findings.url ||= hasUrl(text)
  findings.xml_html ||= hasMarkup(text)
  findings.inline_json ||= hasInlineJson(text)
  const mayBeProse = !findings.prose && text.length >= MIN_PROSE_CHARS
  if (findings.hash && !mayBeProse) return
  // One more for the end, which counts as white space, and one for rounding.
  const most = mayBeProse ? text.length - text.length * MIN_LETTER_SHARE + 2 : 0
  const { hash, words, sentences, letters } = scanWords(text, findings.hash, most)
  findings.hash ||= hash
  findings.prose ||=
    words >= MIN_WORDS && sentences >= MIN_SENTENCES && letters >= text.length * MIN_LETTER_SHARE
}

function addOfLines(counts: LineCounts, findings: Findings): void {
  const md = isMarkdown(counts)
  findings.log ||= counts.logLines >= MIN_LOG_LINES
  findings.diff ||= counts.diff
  findings.md ||= md
  findings.md_table ||= counts.table !== undefined
  findings.md_with_code ||= md && counts.fences >= MIN_FENCES
  findings.code_fence ||= counts.fences >= MIN_FENCES
  findings.yaml ||=
    counts.yamlKeys >= MIN_YAML_LINES &&
    counts.yamlKeys + counts.yamlOthers >= counts.filled * MIN_YAML_SHARE
  findings.stack_trace ||= counts.stackFrames >= MIN_STACK_FRAMES
  findings.numbered_list ||= counts.gutters >= MIN_LIST_LINES
}

function isMarkdown({ headings, bullets, fences, table }: LineCounts): boolean {
  if (headings >= MIN_HEADINGS) return true
  return headings > 0 && (bullets >= MIN_LIST_LINES || fences >= MIN_FENCES || table !== undefined)
}

/** `http://` or `https://`. */
function hasUrl(text: string): boolean {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    if (text.startsWith('http', at - 4) || text.startsWith('https', at - 5)) return true
  }
  return false
}

/** Shorter ones, such as `[1, 2]`, also occur in prose and source. */
const MIN_CHARS = 16
/** Members of an object, items of an array. */
const MIN_MEMBERS = 1
const MIN_ITEMS = 2
/** Deep enough to see what it is. */
const MAX_DEPTH = 250

/**
 * Whether there is an object or array somewhere in the text. If one is not valid, the search
 * continues after the place of the fault, so the work is linear.
 */
function hasInlineJson(text: string): boolean {
  if (!text.includes('{') && !text.includes('[')) return false
  const openers = openersOf(text)
  for (let at = openers.from(0); at < text.length; ) {
    if (!mayHaveMembers(text, at)) {
      at = openers.from(at + 1)
      continue
    }
    const parsed = parseJson(text, { start: at, prefix: true, maxDepth: MAX_DEPTH })
    if (parsed.ok && parsed.end - at >= MIN_CHARS && hasMembers(parsed.value)) return true
    at = openers.from(Math.max(at + 1, parsed.ok ? parsed.end : parsed.offset))
  }
  return false
}

/**
 * Whether a brace or bracket has something after it that JSON may have there. Those of source code
 * mostly have not, and a parser is started for each of the others.
 */
function mayHaveMembers(text: string, at: number): boolean {
  let next = at + 1
  while (isJsonSpace(text.charCodeAt(next))) next++
  const c = text.charCodeAt(next)
  if (c === QUOTE) return true
  return text.charCodeAt(at) === OPEN_BRACKET && VALUE_STARTS.has(c)
}

/** First characters of values but texts. */
const VALUE_STARTS = new Set(Array.from('[{-0123456789tfn', char => char.charCodeAt(0)))

function isJsonSpace(c: number): boolean {
  return c === SPACE || c === LINE_FEED || c === CARRIAGE_RETURN || c === TAB
}

function hasMembers(value: Value): boolean {
  if (value instanceof ObjectValue) return value.keys.length >= MIN_MEMBERS
  return Array.isArray(value) && value.length >= MIN_ITEMS
}

/** Finds brackets and braces, each of which is looked for at most once between two of its kind. */
function openersOf(text: string) {
  const next = (char: string, start: number) => {
    const at = text.indexOf(char, start)
    return at === -1 ? text.length : at
  }
  let brace = next('{', 0)
  let bracket = next('[', 0)
  return {
    /** The first one at `start` or later; the text's length if there is none. */
    from(start: number): number {
      if (brace < start) brace = next('{', start)
      if (bracket < start) bracket = next('[', start)
      return Math.min(brace, bracket)
    },
  }
}

/** Elements that are opened and closed; one pair alone is how tools wrap a remark. */
const MIN_ELEMENTS = 2
/** Names remembered while their element is open; documents have fewer kinds. */
const MAX_NAMES = 64
const MAX_NAME_LENGTH = 64
/** Declarations with which a document names its own kind. */
const PROLOGUES = ['<?xml', '<!DOCTYPE html', '<!doctype html']

/**
 * Whether the text holds XML or HTML: it begins as such a document, or closes two elements that it
 * opened.
 */
export function hasMarkup(text: string): boolean {
  let at = text.indexOf('<')
  if (at === -1) return false
  if (
    PROLOGUES.some(prologue => text.startsWith(prologue, at)) &&
    text.slice(0, at).trim() === ''
  ) {
    return true
  }
  const opened = new Set<string>()
  let closed = 0
  for (; at !== -1; at = text.indexOf('<', at + 1)) {
    const isClosing = text.charAt(at + 1) === '/'
    const name = nameAt(text, isClosing ? at + 2 : at + 1)
    if (name === '') continue
    if (!isClosing) {
      if (opened.size < MAX_NAMES) opened.add(name)
    } else if (opened.has(name) && ++closed >= MIN_ELEMENTS) return true
  }
  return false
}

/** The tag's name at `start`; empty if there is none. */
function nameAt(text: string, start: number): string {
  let at = start
  while (at < start + MAX_NAME_LENGTH && isNamePart(text.charCodeAt(at), at === start)) at++
  return text.slice(start, at)
}

/** A letter; after the first one also a digit, `-`, `.`, `:` or `_`. */
function isNamePart(c: number, isFirst: boolean): boolean {
  const lower = c | 0x20
  if (lower >= 0x61 && lower <= 0x7a) return true
  return !isFirst && ((c >= 0x2d && c <= 0x3a && c !== 0x2f) || c === 0x5f)
}
