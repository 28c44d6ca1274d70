import { type LineTemplates, mineTemplates } from '../../formats/text/templated/line-templates.ts'
import { parseJson } from '../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { boundFloods } from './bound-floods.ts'
import { boundFailures } from './failure-lines.ts'
import { longLineGaps } from './long-lines.ts'
import { isMessage } from './messages.ts'
import { rankItems } from './rank-items.ts'
import { looksLikeProse } from './reduce-prose.ts'
import {
  BULK,
  CRITICAL,
  type Ranking,
  raise,
  raiseEnds,
  STRUCTURE,
  type TextReducer,
} from './reducer.ts'
import { hasLevel, matchesAny, severityOf } from './severity.ts'
import { isTrace, stackTraces, type Trace } from './stack-traces.ts'

/** First characters of a line that make its shape. */
const SHAPE_CHARS = 48

const DIGIT_0 = 48
const DIGIT_9 = 57

/** FNV-1a, 32 bits. */
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193

const LEAST_LINES = 10
/**
 * Share of lines with a time or a level from which a text is a log, whether anything in it failed
 * or not.
 */
const LOG_SHARE = 0.5
/** In prose, a word for a failure means less. */
const PROSE_LOG_SHARE = 0.2

/**
 * Characters at a line's start that are searched for its time, and at its end for the result of a
 * step.
 */
const LOOKED_AT = 64

/** In the first characters of a line: a time, or a level at which nothing is wrong. */
const QUIET_STARTS = [
  /\b\d\d?:\d\d:\d\d\b/,
  /\b\d{4}-\d\d-\d\d[T ]\d\d:/,
  /\b(?:INFO|DEBUG|TRACE|NOTICE)\b/,
  /\[(?:info|debug|trace|notice)\]/,
  /level"?[=:] ?"?(?:info|debug|trace)/,
  // A command that a shell shows before it runs it, a test that passed.
  /^\+{1,8} \S/,
  /^(?:✓|✔|√|PASS\b|ok \d)/,
  /^(?:--- (?:PASS|SKIP)|=== (?:RUN|PAUSE|CONT|NAME)) /,
]
const QUIET_ENDS = [/(?:\.\.\. ?|\s)(?:ok|OK|PASSED|passed|skipped)$/]

/** Summaries of a run: counts with their nouns, `OK` alone, an exit code. */
const SUMMARIES = [
  /\d (?:tests?|passed|passing|failed|failing|skipped|pending|warnings?|errors?)(?:[\s,;)]|$)/,
  /\d (?:suites?|examples|assertions|xfailed|xpassed|problems?)(?:[\s,;)]|$)/,
  /^(?:OK|FAILED|PASSED|SUCCESS|BUILD [A-Z])/,
  /\bexit(?:ed)?(?: with)?(?: status| code)?[ :=]{1,3}\d/,
  /\b(?:Tests?|Suites?|Total|Time|Duration):\s/,
]
/** A heading that is made with rules: `==== FAILURES ====`. */
const HEADING = /^[=_#*~+-]{3}/

const HEAD = 3
const TAIL = 5
/**
 * Lines under which a heading is found, and that belong to a failure because they are indented
 * below it.
 */
const HEADING_LINES = 60
const CONTINUED = 8
/** A shape with at least so many lines is regular. The second figure bounds rare shapes. */
const REGULAR = 10
const RARE = 2
const REGULAR_SHARE = 0.5
/**
 * Lines of a statement that is shown by its first one; and how many statements are, in all and of
 * the lines.
 */
const REPEATED = 3
const MOST_SHOWN = 12
const SHOWN_SHARE = 0.02
/** Lines of rare statements up to which all of them stay. */
const MOST_RARE = 5
const RARE_STATEMENTS_SHARE = 0.1
/** Lines of a statement of which all stay if they read as messages: first three and last. */
const FEW = 4
/** Share of the lines from which messages are what the log consists of. */
const MESSAGES_SHARE = 0.25
const EQUAL_TRACES = 3
/** Lines of a log that only its templates show, and the words and lines of such a template. */
const LEAST_REGULAR = 20
const STATEMENT_WORDS = 3
const STATEMENT_LINES = 4
/** Seconds or milliseconds since 1970, or three numbers that are joined. */
const TIME = /\b1\d{9}(?:\d{3})?\b|\d[.:/-]\d{1,4}[.:/-]\d/
const REGULAR_LOG_SHARE = 0.6
const INDENTED = /^[ \t]/
const RARE_SHARE = 0.05

/**
 * Build and test output and logs: lines that report failures and warnings with what is indented
 * below them, whole stack traces, headings and summaries, both ends, and if most lines are alike
 * the few that are not. One JSON object a line is ranked like the items of a list.
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
      if (hasFailed || isQuiet(line)) timed++
    }
    if (timed >= filled * LOG_SHARE || isJsonLines(lines) || isRegular(lines, filled)) return true
    if (levels === 0) return false
    return timed >= filled * PROSE_LOG_SHARE || !looksLikeProse(view)
  },
  rank({ lines }) {
    const jsonRanks = rankJsonLines(lines)
    const templates = mineTemplates(lines)
    if (jsonRanks !== null) return withoutFloods(lines, jsonRanks, templates)
    const ranks = new Uint8Array(lines.length)
    const counted = rankSeverities(lines, ranks, templates)
    rankStackTraces(lines, ranks, templates)
    rankRareShapes(lines, ranks)
    rankTemplates(lines, ranks, templates)
    rankHeadings(lines, ranks)
    raiseEnds(ranks, HEAD, TAIL + (lines.at(-1) === '' ? 1 : 0))
    return { ranks, inner: longLineGaps(lines, at => ranks[at] !== BULK), counted }
  },
}

/** Whether a line has a time or a level, or is a step that went well. */
function isQuiet(line: string): boolean {
  return (
    matchesAny(line.slice(0, LOOKED_AT).trimStart(), QUIET_STARTS) ||
    matchesAny(line.slice(-LOOKED_AT).trimEnd(), QUIET_ENDS)
  )
}

function rankSeverities(
  lines: readonly string[],
  ranks: Uint8Array,
  templates: LineTemplates,
): ReadonlyMap<number, string> {
  const failures: number[] = []
  const warnings: number[] = []
  const summaries: number[] = []
  lines.forEach((line, at) => {
    if (line === '') return
    const severity = severityOf(line)
    if (severity !== null) (severity === 'failure' ? failures : warnings).push(at)
    else if (matchesAny(line.trimStart(), SUMMARIES)) summaries.push(at)
  })
  for (const at of boundFloods(lines, templates, summaries)) raise(ranks, at, at + 1, STRUCTURE)
  for (const at of boundFloods(lines, templates, warnings)) rankReport(lines, ranks, at)
  const { kept, samples, counted } = boundFailures(lines, failures, templates)
  for (const at of kept) ranks[at] = CRITICAL
  for (const at of samples) {
    rankReport(lines, ranks, at)
    raise(ranks, at - 1, at + 2, STRUCTURE)
  }
  return counted
}

/** Marks a line that reports a failure or a warning, and what is indented below it. */
function rankReport(lines: readonly string[], ranks: Uint8Array, at: number): void {
  ranks[at] = CRITICAL
  if (INDENTED.test(lines[at]!)) return
  for (let next = at + 1; next <= at + CONTINUED && INDENTED.test(lines[next] ?? ''); next++) {
    raise(ranks, next, next + 1, STRUCTURE)
  }
}

/** Marks stack traces; of equal ones the first three and the last. */
function rankStackTraces(
  lines: readonly string[],
  ranks: Uint8Array,
  { ids }: LineTemplates,
): void {
  const equal = new Map<string, Trace[]>()
  for (const trace of stackTraces(lines)) {
    const id = ids.subarray(trace.start, trace.end).join()
    const known = equal.get(id)
    if (known === undefined) equal.set(id, [trace])
    else known.push(trace)
  }
  for (const traces of equal.values()) {
    for (const { start, end } of [...traces.slice(0, EQUAL_TRACES), traces.at(-1)!]) {
      raise(ranks, start, end, CRITICAL)
    }
  }
}

/** A family of templates, as `createFamilies` makes them, with the lines of all of them. */
interface Statement {
  readonly first: number
  lines: number
}

/**
 * Marks the first line of each statement that printed several, as far as these are a small share of
 * the lines; and if few lines are of statements that printed nearly nothing else, these.
 */
function rankTemplates(
  lines: readonly string[],
  ranks: Uint8Array,
  { ids, facts }: LineTemplates,
): void {
  const statements = new Map<number, Statement>()
  for (const { first, family, lines: count } of facts) {
    const known = statements.get(family)
    if (known === undefined) statements.set(family, { first, lines: count })
    else known.lines += count
  }
  const isRare = (id: number) => id !== -1 && statements.get(facts[id]!.family)!.lines <= RARE
  const rare: number[] = []
  ids.forEach((id, at) => {
    if (ranks[at] === BULK && isRare(id)) rare.push(at)
  })
  if (rare.length <= Math.max(MOST_RARE, lines.length * RARE_STATEMENTS_SHARE)) {
    for (const at of rare) ranks[at] = STRUCTURE
  } else {
    const few = (id: number) => id !== -1 && statements.get(facts[id]!.family)!.lines <= FEW
    const messages: number[] = []
    ids.forEach((id, at) => {
      if (ranks[at] === BULK && few(id) && isMessage(lines[at]!)) messages.push(at)
    })
    if (messages.length <= lines.length * MESSAGES_SHARE) {
      for (const at of messages) ranks[at] = STRUCTURE
    }
  }
  const repeated = [...statements.values()].filter(({ lines: count }) => count >= REPEATED)
  const most = Math.min(MOST_SHOWN, Math.floor(lines.length * SHOWN_SHARE))
  for (const { first } of repeated.sort((a, b) => b.lines - a.lines).slice(0, most)) {
    raise(ranks, first, first + 1, STRUCTURE)
  }
}

/** Items that failed, without those of which there are too many alike. */
function withoutFloods(
  lines: readonly string[],
  ranks: Uint8Array,
  templates: LineTemplates,
): Ranking {
  const failed: number[] = []
  ranks.forEach((rank, at) => {
    if (rank === CRITICAL) failed.push(at)
  })
  const { counted } = boundFailures(lines, failed, templates)
  for (const at of counted.keys()) ranks[at] = BULK
  return { ranks, counted }
}

/**
 * Whether most lines are of few templates, each with words, and with a number near its start that
 * may be a time: a log of a program that prints neither levels nor usual times.
 */
function isRegular(lines: readonly string[], filled: number): boolean {
  if (filled < LEAST_REGULAR) return false
  let regular = 0
  for (const { first, lines: count, words, wordsBefore } of mineTemplates(lines).facts) {
    if (count < STATEMENT_LINES || words < STATEMENT_WORDS || wordsBefore > 0) continue
    if (TIME.test(lines[first]!.slice(0, LOOKED_AT))) regular += count
  }
  return regular >= filled * REGULAR_LOG_SHARE
}

/** Marks the heading above critical lines, because it names their place. */
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

/** Outliers: lines of rare shapes, if most lines are of a few shapes. */
function rankRareShapes(lines: readonly string[], ranks: Uint8Array): void {
  const shapes = Int32Array.from(lines, lineShape)
  const counts = new Map<number, number>()
  for (const shape of shapes) counts.set(shape, (counts.get(shape) ?? 0) + 1)
  let regular = 0
  for (const count of counts.values()) if (count >= REGULAR) regular += count
  if (regular < lines.length * REGULAR_SHARE) return
  const rare: number[] = []
  for (const [at, shape] of shapes.entries()) {
    if (ranks[at] === BULK && lines[at] !== '' && counts.get(shape)! <= RARE) rare.push(at)
  }
  if (rare.length > lines.length * RARE_SHARE) return
  for (const at of rare) ranks[at] = STRUCTURE
}

/**
 * The shape of a line: a hash of its first characters with each run of digits as one digit. Lines
 * that one statement of a program printed have the same shape. Rarely, different shapes have the
 * same hash. Then a rare line is not noticed. The work for a line is bounded, and takes no memory.
 */
function lineShape(line: string): number {
  let hash = OFFSET_BASIS
  let wasDigit = false
  const end = Math.min(line.length, SHAPE_CHARS)
  for (let at = 0; at < end; at++) {
    const c = line.charCodeAt(at)
    const isDigit = c >= DIGIT_0 && c <= DIGIT_9
    if (!(isDigit && wasDigit)) hash = Math.imul(hash ^ (isDigit ? DIGIT_0 : c), PRIME)
    wasDigit = isDigit
  }
  return hash
}

/** Share of the lines that must be JSON objects. */
const JSON_SHARE = 0.9
const DEEPEST = 64

/**
 * Whether nearly every line looks like a JSON object; whether it is one is only seen when it is
 * parsed.
 */
function isJsonLines(lines: readonly string[]): boolean {
  let filled = 0
  let objects = 0
  for (const line of lines) {
    if (line.trim() === '') continue
    filled++
    if (line.startsWith('{') && /\}\s*$/.test(line.slice(-4))) objects++
  }
  return objects > 0 && objects >= filled * JSON_SHARE
}

/**
 * Ranks of lines that are JSON objects, as items of a list; others are structure. Returns `null` if
 * too many lines are no objects.
 */
function rankJsonLines(lines: readonly string[]): Uint8Array | null {
  if (!isJsonLines(lines)) return null
  const items: Value[] = []
  const places: number[] = []
  const ranks = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.trim() === '') return
    const parsed = parseJson(line, { maxDepth: DEEPEST })
    if (parsed.ok && parsed.value instanceof ObjectValue) {
      items.push(parsed.value)
      places.push(at)
    } else raise(ranks, at, at + 1, STRUCTURE)
  })
  if (items.length < (items.length + ranks.filter(Boolean).length) * JSON_SHARE) return null
  rankItems(items).forEach((rank, index) => {
    ranks[places[index]!] = rank
  })
  return ranks
}
