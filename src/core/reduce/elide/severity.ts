import { startsLikeHint } from '../../hints/look-alikes.ts'

/**
 * Words for failures. The list is wide on purpose: a line that is kept without need costs less than
 * one that is missed.
 */
const FAILURE =
  /\b(?:error(?:s|ed)?|fatal|fail(?:ed|ures?|ing|s)?|critical|crit|severe|panic(?:ked|king)?|exceptions?|traceback|abort(?:ed|ing|s)?|denied|refused|rejected|unauthori[sz]ed|forbidden|timeout|timed[ -]out|segfault|segmentation|dumped|oom|killed|crash(?:ed|es|ing)?|emerg(?:ency)?|unhandled|uncaught|unsuccessful|corrupt(?:ed|ion)?|deadlock|violations?|assert|assertion|invalid|cannot|unreachable|undefined reference)\b/i
const WARNING = /\b(?:warn(?:ings?)?|alert|deprecat(?:ed|ion|ions)|unstable|insecure)\b/i

/**
 * Names of classes (`ValueError`), short levels (`ERR`, `E0102 12:00`, `W, [`), an answer of a
 * server that failed.
 */
const NAMED_FAILURES = [
  /[A-Za-z\d](?:Error|Exception|Failure)s?\b/,
  /\bERR\b|level=err\b|\[err\]/,
  /^[EF](?:\d{4} |, \[| {3})/,
  /" 5\d\d\b/,
]
const NAMED_WARNINGS = [/[A-Za-z\d]Warnings?\b|\bWRN\b/, /^W(?:\d{4} |, \[)/]

/**
 * The severity that a line reports. Each pattern looks at a character a bounded number of times, so
 * the time is linear.
 */
export type Severity = 'failure' | 'warning' | null

export function severityOf(line: string): Severity {
  const severity = wordsOf(line)
  // A line that imitates a hint must not be kept for such words.
  return severity === null || startsLikeHint(line) ? null : severity
}

function wordsOf(line: string): Severity {
  if (FAILURE.test(line) || matchesAny(line, NAMED_FAILURES)) return 'failure'
  return WARNING.test(line) || matchesAny(line, NAMED_WARNINGS) ? 'warning' : null
}

/** The words for failures and warnings in a line, in lower case, with their places. */
export function reportedWords(line: string): { readonly word: string; readonly at: number }[] {
  return [FAILURE, WARNING, NAMED_FAILURES[0]!].flatMap(pattern => [...matches(line, pattern)])
}

function* matches(line: string, pattern: RegExp): Generator<{ word: string; at: number }> {
  for (let from = 0; from < line.length; ) {
    const found = pattern.exec(line.slice(from))
    if (found === null) return
    const at = from + found.index
    yield { word: found[0].toLowerCase(), at }
    from = at + found[0].length
  }
}

/**
 * A level as programs print one, rather than a word of a sentence or of a file's name: capitals,
 * brackets, or a colon after it.
 */
const LEVELS = [
  /\b(?:ERROR|FATAL|WARN|WARNING|FAIL|FAILED|CRITICAL|PANIC|EMERG|Traceback)\b/,
  /\[(?:error|warn|warning|fatal|crit|emerg|alert|fail|failed)\]/,
  /level"?[=:] ?"?(?:error|warn|fatal|panic|crit)/,
  /\b(?:error|warning|fatal|panic|exception|failed): /,
  /[a-z](?:Error|Exception|Warning): |^error\[/,
]

export function hasLevel(line: string): boolean {
  return matchesAny(line, LEVELS)
}

/**
 * There are several small patterns, because one large pattern could not be proved to take linear
 * time.
 */
export function matchesAny(line: string, patterns: readonly RegExp[]): boolean {
  return patterns.some(pattern => pattern.test(line))
}
