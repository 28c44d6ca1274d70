import { type LineTemplates, mineTemplates } from '../../formats/text/templated/line-templates.ts'
import { boundFloods, kindOfLine } from './bound-floods.ts'

/** Failures up to which all stay: so many, or this share of the lines if that is more. */
const MOST_FAILURES = 200
const MOST_SHARE = 0.1
/** Characters of the words that name a kind of failure in a mark. */
const NAME_CHARS = 40
/** Characters of a line that are searched for these words. */
const LOOKED_AT = 400
const MOST_WORDS = 6
/** A level says that something failed, not what. */
const LEVEL = /^\W*(?:ERR|ERROR|FATAL|FAIL|FAILED|CRITICAL|CRIT|PANIC|SEVERE|EMERG)\W*$/i
const WORD = /^[\p{L}'’_-]+[.,:;!?]?$/u

/** Lines that report failures: those that stay, and the kind of each of the others by its index. */
export interface BoundFailures {
  readonly kept: readonly number[]
  /** Some of these that represent all of a kind: the first ones, the last, and each code. */
  readonly samples: readonly number[]
  readonly counted: ReadonlyMap<number, string>
}

/**
 * All lines that report failures up to a bound. Beyond it each kind has its samples, and kinds with
 * few lines stay as a whole, as far as the bound allows. The others are counted in the marks of
 * their gaps.
 * @param failures indexes of lines, in order
 */
export function boundFailures(
  lines: readonly string[],
  failures: readonly number[],
  templates: LineTemplates = mineTemplates(lines),
): BoundFailures {
  const samples = boundFloods(lines, templates, failures)
  const most = Math.max(MOST_FAILURES, lines.length * MOST_SHARE)
  if (failures.length <= most) return { kept: failures, samples, counted: new Map() }
  const isKept = new Set(samples)
  const rest = Map.groupBy(
    failures.filter(at => !isKept.has(at)),
    at => kindOfLine(lines[at]!, at, templates),
  )
  const counted = new Map<number, string>()
  for (const kind of [...rest.values()].sort((a, b) => a.length - b.length)) {
    const fits = isKept.size + kind.length <= most
    const name = fits ? '' : nameOf(lines[kind[0]!]!)
    for (const at of kind) {
      if (fits) isKept.add(at)
      else counted.set(at, name)
    }
  }
  return { kept: failures.filter(at => isKept.has(at)), samples, counted }
}

/** The longest run of plain words in a line, without its level: what its kind has in common. */
function nameOf(line: string): string {
  let best: readonly string[] = []
  let run: string[] = []
  for (const word of [...line.slice(0, LOOKED_AT).split(/\s/), '']) {
    if (LEVEL.test(word)) continue
    if (WORD.test(word)) run.push(word)
    else {
      if (run.length > best.length) best = run
      run = []
    }
  }
  const words = best.slice(0, MOST_WORDS)
  while (words.join(' ').length > NAME_CHARS) words.pop()
  return words.join(' ').replace(/[.,:;!?]$/, '')
}
