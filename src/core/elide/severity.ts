/** Words for what went wrong; wide on purpose, since a line that is kept for nothing costs less than one that is missed. */
const FAILURE =
  /\b(?:errors?|fatal|fail(?:ed|ures?|ing|s)?|critical|crit|severe|panic(?:ked|king)?|exceptions?|traceback|abort(?:ed|ing|s)?|denied|refused|rejected|unauthori[sz]ed|forbidden|timeout|timed[ -]out|segfault|segmentation|dumped|oom|killed|crash(?:ed|es|ing)?|emerg(?:ency)?|unhandled|uncaught|unsuccessful|corrupt(?:ed|ion)?|deadlock|violations?|assert|assertion|invalid|cannot|unreachable|undefined reference)\b/i
const WARNING = /\b(?:warn(?:ings?)?|alert|deprecat(?:ed|ion|ions)|unstable|insecure)\b/i

/** Names of classes (`ValueError`), short levels (`ERR`, `E0102 12:00`, `W, [`), an answer of a server that failed. */
const NAMED_FAILURE =
  /[A-Za-z\d](?:Error|Exception|Failure)s?\b|\bERR\b|level=err\b|\[err\]|^(?:[EF]\d{4} |[EF], \[|E {2,}\S)|" 5\d\d(?:\s|$)/
const NAMED_WARNING = /[A-Za-z\d]Warnings?\b|\bWRN\b|^(?:W\d{4} |W, \[)/

/** How bad what a line says is. Each pattern looks at a character a bounded number of times, so the time is linear. */
export type Severity = 'failure' | 'warning' | null

export function severityOf(line: string): Severity {
  if (FAILURE.test(line) || NAMED_FAILURE.test(line)) return 'failure'
  return WARNING.test(line) || NAMED_WARNING.test(line) ? 'warning' : null
}

/**
 * A level where programs print one, rather than a word of a sentence or of a file's name: capitals, brackets, or a colon
 * behind it.
 */
const LEVEL =
  /\b(?:ERROR|FATAL|WARN|WARNING|FAIL|FAILED|CRITICAL|PANIC|EMERG|Traceback)\b|\[(?:error|warn|warning|fatal|crit|emerg|alert|fail(?:ed)?)\]|level"?[=:] ?"?(?:error|warn|fatal|panic|crit)|\b(?:error|warning|fatal|panic|exception|failed|[A-Za-z]{1,40}(?:Error|Exception|Warning))(?: ?\[[^\]]{1,40}\])?:(?:\s|$)/

export function hasLevel(line: string): boolean {
  return LEVEL.test(line)
}
