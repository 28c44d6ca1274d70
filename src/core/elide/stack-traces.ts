import { CRITICAL, raise } from './reducer.ts'

/** Lines that only stack traces have: of the JVM, JavaScript, .NET, Python, Ruby, Go, Rust, PHP, native debuggers. */
const FRAME =
  /^\s*(?:at\s+\S|File "[^"]*", line \d|\.\.\. \d+ more|from \S+:\d+:in |#\d+\s+\S|\d+:\s+(?:0x[\da-f]+ - )?\S+::\S|created by \S)|^\t\S+:\d+ \+0x|^\s+\S+:\d+:\d+$/
/** Where a trace begins, or goes on with its cause. */
const OPENING =
  /^\s*(?:Traceback \(most recent call last\)|Caused by:|Suppressed:|goroutine \d+ \[|stack backtrace:|thread '[^']*' panicked|Exception in thread |Unhandled |Uncaught |The above exception |During handling of |--- End of )|panicked at |^panic: /
const INDENTED = /^[ \t]/
const BLANK = /^\s*$/

/** Lines that a trace goes on for without a frame of its own: source lines, carets, blank lines before a cause. */
const MOST_BETWEEN = 3

/**
 * Marks stack traces, each as a whole: from the line that says what happened, over frames and the source lines between
 * them, to the last frame or, as in Python, the exception behind it, and their causes.
 */
export function rankStackTraces(lines: readonly string[], ranks: Uint8Array): void {
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    if (!isTrace(line)) {
      at++
      continue
    }
    const end = traceEnd(lines, at)
    // The message stands above the first frame, where no opening says that the trace begins here.
    raise(ranks, OPENING.test(line) ? at : at - 1, end, CRITICAL)
    at = end
  }
}

/** Whether a line says that it belongs to a stack trace. */
export function isTrace(line: string): boolean {
  return FRAME.test(line) || OPENING.test(line)
}

function traceEnd(lines: readonly string[], start: number): number {
  let end = start + 1
  for (let at = end; at < lines.length && at - end <= MOST_BETWEEN; at++) {
    const line = lines[at]!
    if (isTrace(line)) end = at + 1
    else if (!INDENTED.test(line) && !BLANK.test(line)) {
      // Python says last what was raised; after it only a blank line and a cause may follow.
      if (at - end > 1 && BLANK.test(lines[at - 1]!)) break
      if (at <= end + 1) end = at + 1
      if (!BLANK.test(lines[at + 1] ?? '') && !isTrace(lines[at + 1] ?? '')) break
    }
  }
  return end
}
