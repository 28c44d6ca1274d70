import { hasInlineJson } from './inline-json.ts'
import { hasMarkup } from './markup.ts'
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

export function noFindings(): Findings {
  return Object.fromEntries(INNER_FORMATS.map(format => [format, false])) as Findings
}

/**
 * Looks for every inner format in one text, adds what it meets to `findings`, and gives the counts
 * of its lines. Each format costs at most one pass over the text.
 */
export function scanText(text: string, findings: Findings): LineCounts | undefined {
  if (text.length < MIN_TEXT_LENGTH) return undefined
  findings.url ||= hasUrl(text)
  findings.xml_html ||= hasMarkup(text)
  findings.inline_json ||= hasInlineJson(text)
  if (!findings.hash || !findings.prose) {
    const { hash, words, sentences, letters } = scanWords(text)
    findings.hash ||= hash
    findings.prose ||=
      words >= MIN_WORDS && sentences >= MIN_SENTENCES && letters >= text.length * MIN_LETTER_SHARE
  }
  const counts = scanLines(text)
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
  return counts
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
