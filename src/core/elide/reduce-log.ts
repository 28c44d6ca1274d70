import { isJsonLines, rankJsonLines } from './json-lines.ts'
import { lineShape } from './line-shape.ts'
import { looksLikeProse } from './prose-sentences.ts'
import { BULK, CRITICAL, raise, raiseEnds, STRUCTURE, type TextReducer } from './reducer.ts'
import { hasLevel, severityOf } from './severity.ts'
import { isTrace, rankStackTraces } from './stack-traces.ts'

const LEAST_LINES = 10
/** Share of lines with a time or a level from which a text is a log, whether anything in it failed or not. */
const LOG_SHARE = 0.5
/** In prose, a word for a failure says less. */
const PROSE_LOG_SHARE = 0.2

/** A time in the first characters of a line: `2024-05-06T07:08`, `06/May/2024:07:08:09`, `07:08:09`. */
const TIME = /^.{0,48}?(?:\b\d{1,2}:\d{2}:\d{2}\b|\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2})/
const QUIET_LEVEL =
  /\b(?:INFO|DEBUG|TRACE|NOTICE)\b|\[(?:info|debug|trace|notice)\]|level"?[=:] ?"?(?:info|debug|trace)/
/** A command that a shell shows before it runs it, a test that passed. */
const STEP = /^\++ \S|(?:\.\.\. ?|\s)(?:ok|OK|PASSED|passed|skipped)\s*$|^\s*(?:✓|✔|√|PASS\b|ok \d)/

/** What a run comes to: counts with what they count, `OK` alone, an exit code. */
const SUMMARY =
  /\b\d{1,9} (?:tests?|passed|passing|failed|failing|skipped|pending|warnings?|errors?|suites?|examples|assertions|xfailed|xpassed|problems?)\b|^\s*(?:OK|FAILED|PASSED|SUCCESS|BUILD \w{1,40})\b|\bexit(?:ed)?(?: with)?(?: status| code)?[ :=]{1,3}\d|\b(?:Tests?|Suites?|Total|Time|Duration):\s/
/** A heading that is made with rules: `==== FAILURES ====`. */
const HEADING = /^\s*[=_#*~+-]{3,}.*[A-Za-z]/

const HEAD = 3
const TAIL = 5
/** Lines under which a heading is found, and that belong to a failure because they are indented below it. */
const HEADING_LINES = 60
const CONTINUED = 8
/** Lines of one shape that are a regular part of a log, and shapes that are rare beside these. */
const REGULAR = 10
const RARE = 2
const REGULAR_SHARE = 0.5
const RARE_SHARE = 0.05

/**
 * Build and test output and logs: lines that tell of failures and warnings with what is indented below them, whole stack
 * traces, headings and summaries, both ends, and where most lines are alike the few that are not. One JSON object a line
 * is ranked like the items of a list.
 */
export const logReducer: TextReducer = {
  kind: 'log',
  accepts(view) {
    const { lines } = view
    if (lines.length < LEAST_LINES) return false
    let filled = 0
    let timed = 0
    let levels = 0
    for (const line of lines) {
      if (line.trim() === '') continue
      filled++
      const hasFailed = hasLevel(line) || isTrace(line)
      if (hasFailed) levels++
      if (hasFailed || TIME.test(line) || QUIET_LEVEL.test(line) || STEP.test(line)) timed++
    }
    if (timed >= filled * LOG_SHARE || isJsonLines(lines)) return true
    if (levels === 0) return false
    return timed >= filled * PROSE_LOG_SHARE || !looksLikeProse(view)
  },
  rank({ lines }) {
    const jsonRanks = rankJsonLines(lines)
    if (jsonRanks !== null) return { ranks: jsonRanks }
    const ranks = new Uint8Array(lines.length)
    rankSeverities(lines, ranks)
    rankStackTraces(lines, ranks)
    rankRareShapes(lines, ranks)
    rankHeadings(lines, ranks)
    raiseEnds(ranks, HEAD, TAIL + (lines.at(-1) === '' ? 1 : 0))
    return { ranks }
  },
}

function rankSeverities(lines: readonly string[], ranks: Uint8Array): void {
  lines.forEach((line, at) => {
    const severity = severityOf(line)
    if (severity !== null) {
      ranks[at] = CRITICAL
      if (severity === 'failure') raise(ranks, at - 1, at + 2, STRUCTURE)
      for (let next = at + 1; next <= at + CONTINUED && /^[ \t]/.test(lines[next] ?? ''); next++) {
        if (!/^[ \t]/.test(line)) raise(ranks, next, next + 1, STRUCTURE)
      }
    } else if (SUMMARY.test(line)) raise(ranks, at, at + 1, STRUCTURE)
  })
}

/** The heading above what is critical says what that belongs to. */
function rankHeadings(lines: readonly string[], ranks: Uint8Array): void {
  let heading = -1
  lines.forEach((line, at) => {
    if (ranks[at] === CRITICAL && heading >= 0 && at - heading <= HEADING_LINES) {
      raise(ranks, heading, heading + 1, STRUCTURE)
      heading = -1
    }
    if (HEADING.test(line)) heading = at
  })
}

/** Outliers: lines of shapes that are rare where most lines are of a few shapes. */
function rankRareShapes(lines: readonly string[], ranks: Uint8Array): void {
  const shapes = lines.map(lineShape)
  const counts = new Map<string, number>()
  for (const shape of shapes) counts.set(shape, (counts.get(shape) ?? 0) + 1)
  let regular = 0
  for (const count of counts.values()) if (count >= REGULAR) regular += count
  if (regular < lines.length * REGULAR_SHARE) return
  const rare = shapes.flatMap((shape, at) => {
    return counts.get(shape)! <= RARE && ranks[at] === BULK && shape !== '' ? [at] : []
  })
  if (rare.length > lines.length * RARE_SHARE) return
  for (const at of rare) ranks[at] = STRUCTURE
}
