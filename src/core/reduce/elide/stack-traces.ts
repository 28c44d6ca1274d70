import { matchesAny } from './severity.ts'

/**
 * Lines that only stack traces have, without their indentation: of the JVM, JavaScript, .NET,
 * Python, Ruby, Go, Rust, PHP.
 */
const FRAMES = [
  /^at\s+\S/,
  /^File "/,
  /^\.\.\. \d{1,9} more/,
  /^from \S.*:in /,
  /^#\d{1,5} +\S/,
  /^\d{1,5}: +\S+::/,
  /^created by \S/,
]
/** A file of a frame in Go, under the function that it is of: `\t/app/main.go:12 +0x1d`. */
const GO_FILE = '.go:'
/** Lines at which a trace starts, or continues with its cause. */
const OPENINGS = [
  /^(?:Traceback \(most|Caused by:|Suppressed:|stack backtrace:)/,
  /^goroutine \d{1,9} \[/,
  /^(?:Exception in thread |Unhandled |Uncaught |panic: |thread ')/,
  /^(?:The above exception |During handling of |--- End of )/,
]
const INDENTED = /^[ \t]/
const BLANK = /^\s*$/

/**
 * Lines of a trace between two frames at most: source lines, carets, blank lines before a cause.
 */
const MOST_BETWEEN = 3

/** A stack trace: its lines from `start` to `end`, exclusive. */
export interface Trace {
  readonly start: number
  readonly end: number
}

/**
 * Stack traces, each as a whole: from the line that names the error, over frames and the source
 * lines between them, to the last frame or, as in Python, the exception after it, and their causes.
 */
export function stackTraces(lines: readonly string[]): readonly Trace[] {
  const traces: Trace[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    if (line === '' || !isTrace(line)) {
      at++
      continue
    }
    const end = traceEnd(lines, at)
    // If no opening marks the start of the trace, the message is above the first frame.
    traces.push({ start: opens(line) ? at : Math.max(0, at - 1), end })
    at = end
  }
  return traces
}

/** First characters of frames and openings. Most lines begin otherwise, and need no pattern. */
const FIRST = 'aF.f#0123456789cTCSsgEUptD-'
/** Characters of a line that are looked at. */
const MOST_LOOKED_AT = 512

/** Whether a line belongs to a stack trace by its own words. */
export function isTrace(line: string): boolean {
  const start = startOf(line)
  if (!FIRST.includes(line.charAt(start))) {
    return line.startsWith('\t') && line.includes(GO_FILE)
  }
  const text = line.slice(start, start + MOST_LOOKED_AT)
  if (matchesAny(text, FRAMES) || matchesAny(text, OPENINGS)) return true
  return line.startsWith('\t') && line.includes(GO_FILE)
}

function opens(line: string): boolean {
  const start = startOf(line)
  return matchesAny(line.slice(start, start + MOST_LOOKED_AT), OPENINGS)
}

/** The start of a line's text; its end if it is blank. */
function startOf(line: string): number {
  let at = 0
  while (line.charCodeAt(at) === SPACE || line.charCodeAt(at) === TAB) at++
  return at
}

const SPACE = 32
const TAB = 9

function traceEnd(lines: readonly string[], start: number): number {
  let end = start + 1
  for (let at = end; at < lines.length && at - end <= MOST_BETWEEN; at++) {
    const line = lines[at]!
    if (isTrace(line)) end = at + 1
    else if (!INDENTED.test(line) && !BLANK.test(line)) {
      // Python names the exception last; after it only a blank line and a cause may follow.
      if (at - end > 1 && BLANK.test(lines[at - 1]!)) break
      if (at <= end + 1) end = at + 1
      if (!BLANK.test(lines[at + 1] ?? '') && !isTrace(lines[at + 1] ?? '')) break
    }
  }
  return end
}
