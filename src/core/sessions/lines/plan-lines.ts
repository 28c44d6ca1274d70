import { hostBlocks } from '../../formats/host-blocks.ts'
import type { Verbosity } from '../../hints/hint.ts'
import { SHORT_REFERENCE, TINY_REFERENCE } from '../../reading/constructs.ts'
import { type Reading, USUAL_READING } from '../../reading/price.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { SessionKey } from '../index/session-index.ts'
import type { BodyMemory, KeptBody } from './body-memory.ts'
import { type FoundRun, RunFinder } from './find-run.ts'
import { guardLine, isReferenceLike } from './guard-line.ts'
import { createReferenceWriter, type EarlierResult, readReference } from './reference-line.ts'
import type { ScannedText } from './scan-text.ts'

/** The earlier bodies, and which of them may be referred to. */
export interface EarlierBodies {
  readonly memory: BodyMemory
  readonly key: SessionKey
  /**
   * The result with this identity, if it is in the agent's context, can be retrieved and is no
   * error.
   */
  find(identity: string): EarlierResult | undefined
}

export interface PlanOptions {
  readonly counter: TokenCounter
  readonly verbosity: Verbosity
  readonly terms?: RunTerms
  /** Blocks of hosts that references may represent, by name; all others stay. */
  readonly referableBlocks?: readonly string[]
}

/** When a reference is worth what it asks of its reader, who has to go and look. */
export interface RunTerms {
  /** Tokens that it must save beside its own. */
  readonly price: number
  /** Runs of fewer lines must have so many tokens. */
  readonly leastLines: number
  readonly leastTokens: number
  /** Tokens that any run must have; absent: 1. */
  readonly leastOfAny?: number
}

/** The terms of a level. */
export function runTermsOf({ prices }: Reading): RunTerms {
  const price = prices.reference?.each ?? Infinity
  if (prices.short_reference === null) {
    const { lines, tokens } = SHORT_REFERENCE
    return { price, leastLines: lines, leastTokens: Infinity, leastOfAny: tokens }
  }
  const { lines, tokens } = TINY_REFERENCE
  return prices.tiny_reference === null
    ? { price, leastLines: lines, leastTokens: tokens }
    : { price, leastLines: 1, leastTokens: 0 }
}

export const USUAL_TERMS: RunTerms = runTermsOf(USUAL_READING)

/** One run of lines that a line refers to. */
export interface PlannedRun {
  /** First line of the new text, counted from 0, and the line after the last. */
  readonly from: number
  readonly end: number
  /** The line that represents them. */
  readonly reference: string
  /** The identity of the body it refers to. */
  readonly identity: string
}

/** A text of which some lines are replaced by references; `encodeLines` writes it. */
export interface LinePlan {
  readonly text: ScannedText
  /** In the order of the text, none overlapping. */
  readonly runs: readonly PlannedRun[]
}

/** Runs of fewer bytes are not priced: no reference is cheaper. */
const MIN_RUN_BYTES = 24
/**
 * Bytes of a run that are counted first; for most runs they show that the reference saves tokens.
 * Eight times as much is counted next.
 */
const PRICED_BYTES = 256

/**
 * Lines of a text that repeat lines of earlier bodies, each run priced: its reference costs fewer
 * tokens than its text. Greedy from the first line to the last, in time linear in the text. The sum
 * of prices is near but not exact, since tokens may reach over the ends of runs: price the whole
 * before it is used.
 * @returns `null` if nothing can be saved, or a body was overwritten meanwhile
 */
export function planLines(
  text: ScannedText,
  earlier: EarlierBodies,
  options: PlanOptions,
): LinePlan | null {
  const { counter, verbosity, terms = USUAL_TERMS, referableBlocks = [] } = options
  const { memory, key } = earlier
  const results = new Map<string, EarlierResult>()
  const finder = new RunFinder(text, memory, key, identity => {
    const result = earlier.find(identity)
    if (result === undefined) return 'none'
    results.set(identity, result)
    return result.asWhole === true ? 'whole' : 'lines'
  })
  const writer = createReferenceWriter(verbosity)
  const runs: PlannedRun[] = []
  const used = new Set<KeptBody>()
  let favourite: FoundRun | null = null
  let floor = 0

  function referenceTo(run: FoundRun): PlannedRun | null {
    const { from, end } = run
    if (text.starts[end]! - text.starts[from]! < MIN_RUN_BYTES) return null
    const { identity } = run.body
    const result = results.get(identity)!
    const reference = writer.write(result, run)
    if (reference === null || !isReferenceLike(reference)) return null
    const price = counter.count(`${reference}\n`) + terms.price
    const least =
      end - from < terms.leastLines ? terms.leastTokens - 1 : (terms.leastOfAny ?? 1) - 1
    const limit = Math.max(price, least)
    if (!isAbove(text, from, end, counter, limit)) return null
    // A reference that cannot be read back is not written, for example one with a name that no hint
    // can have. To read it costs more than to price it.
    if (readReference(reference) === null) return null
    writer.take(result)
    return { from, end, reference, identity }
  }

  const walls = [...wallsIn(text, referableBlocks), { from: text.lines, end: text.lines }]
  let wall = 0
  for (let line = 0; line < text.lines; ) {
    const { from: limit, end } = walls[wall]!
    if (line >= limit) {
      wall++
      floor = end
      line = end
      continue
    }
    const run: FoundRun | null = finder.find(line, { floor, limit }, favourite)
    const tried = Math.max(line + 1, finder.tried())
    const planned = run === null ? null : referenceTo(run)
    line = tried
    if (run === null || planned === null) continue
    runs.push(planned)
    used.add(run.body)
    favourite = run
    floor = run.end
    line = run.end
  }
  for (const body of used) if (!memory.isIntact(body)) return null
  return runs.length === 0 ? null : { text, runs }
}

const TAG = Buffer.from('</')

/** Lines that no reference may represent, in their order. */
function wallsIn(
  { bytes }: ScannedText,
  referable: readonly string[],
): readonly { readonly from: number; readonly end: number }[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!buffer.includes(TAG)) return []
  return hostBlocks(buffer.toString('utf8')).filter(({ name }) => !referable.includes(name))
}

/** Whether these lines have more tokens than `limit`. */
function isAbove(
  { bytes, starts }: ScannedText,
  from: number,
  end: number,
  counter: TokenCounter,
  limit: number,
): boolean {
  const start = starts[from]!
  const stop = Math.min(starts[end]!, bytes.length)
  for (let length = PRICED_BYTES; ; length *= 8) {
    const seen = Math.min(stop, start + length)
    if (counter.countUpTo(textOf(bytes, start, seen), limit) > limit) return true
    if (seen === stop) return false
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}

/** The answer: new lines as they are, one line for each run. Format `lines@1`. */
export function encodeLines({ text: { bytes, starts, lines }, runs }: LinePlan): string {
  const out: string[] = []
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const literal = (from: number, end: number) => {
    if (from === end) return
    const part = buffer.toString('utf8', starts[from]!, starts[end]! - 1)
    for (const line of part.split('\n')) out.push(guardLine(line))
  }
  let at = 0
  for (const { from, end, reference } of runs) {
    literal(at, from)
    out.push(reference)
    at = end
  }
  literal(at, lines)
  return out.join('\n')
}
