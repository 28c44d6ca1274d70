import { BoundedMap } from '../../core/base/bounded-map.ts'
import { createRepeats, type Repeats } from '../../core/telemetry/repeats.ts'
import { entryOf } from '../entry-of.ts'
import { UnreadableLog } from './chunks.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { LogFile } from './list-logs.ts'
import type { Dialect, LoggedResult, LoggedUsage, LogLine } from './log-line.ts'
import { LINE_FAULTS, type LineFault, readLines } from './read-lines.ts'
import { recording } from './recording.ts'

/** Why a result is skipped: it is an image, for example, or the pipeline refuses it. */
const RESULT_FAULTS = ['no_text', 'not_encoded'] as const
type ResultFault = (typeof RESULT_FAULTS)[number]

/** Counts of what was read in logs, and what was skipped. */
export interface LogTally {
  lines: number
  /** Lines of agents' logs, and other JSON. */
  read: number
  other: number
  results: number
  /** Results whose call is not in the log. */
  without_call: number
  readonly skipped: Record<LineFault | ResultFault, number>
}

/** Adds what was read of another log. */
export function addTally(sums: LogTally, { skipped, ...counts }: LogTally): void {
  for (const name of COUNTS) sums[name] += counts[name]
  for (const fault of FAULTS) sums.skipped[fault] += skipped[fault]
}

const COUNTS = ['lines', 'read', 'other', 'results', 'without_call'] as const
const FAULTS = [...LINE_FAULTS, ...RESULT_FAULTS] as const

export function noTally(): LogTally {
  const skipped = Object.fromEntries(FAULTS.map(name => [name, 0]))
  return {
    lines: 0,
    read: 0,
    other: 0,
    results: 0,
    without_call: 0,
    skipped: skipped as LogTally['skipped'],
  }
}

/** A tool result with its context in the log. */
export interface MinedResult {
  readonly session: string | undefined
  /** The sub-agent whose context it is in. */
  readonly agent: string | undefined
  readonly tool: string | undefined
  /** The model that spoke last in its context; `undefined` if the log names none. */
  readonly model: string | undefined
  readonly args: unknown
  readonly call_id: string | undefined
  readonly text: string
  readonly is_error: boolean
  /** Unix milliseconds; 0 if the log has no times. */
  readonly ts_ms: number
  /** From the line of the call to that of the result; `undefined` if the log has no times. */
  readonly took_ms: number | undefined
  /** Whether a copy in another log has a time of its own. */
  readonly isRestamped: boolean
  readonly context: Context
  /** Whether the context was compacted since its last result. */
  readonly isCompacted: boolean
}

/** Each line is of the first one that knows it. */
const DIALECTS: readonly Dialect[] = [claudeCode, codex, recording]

/**
 * Gets what answers were billed for, as often as the log says it.
 * @param ts_ms Unix milliseconds; 0 if the log has no times
 */
type OnUsage = (usage: LoggedUsage, model: string | undefined, ts_ms: number) => void

/**
 * The tool results of one log in their order, of Claude Code, of Codex or as `haversack replay`
 * reads them. What is skipped is counted in `tally`, never thrown.
 * @throws UnreadableLog
 */
export function* readLog(path: string, tally: LogTally, onUsage?: OnUsage): Generator<MinedResult> {
  const calls = new PendingCalls()
  const contexts = new BoundedMap<string, Context>(MAX_CONTEXTS)
  const compacted = new WeakSet<Context>()
  const models = new WeakMap<Context, string>()
  let owner: LogLine['opens']
  let session: string | undefined
  let ts_ms = 0
  for (const line of readLines(path)) {
    tally.lines++
    if (!line.ok) {
      tally.skipped[line.fault]++
      continue
    }
    const said = read(line.value)
    if (said === null) {
      tally.other++
      continue
    }
    tally.read++
    if (owner === undefined && said.opens !== undefined) {
      owner = said.opens
      session = owner.session
    }
    session = said.session ?? session
    ts_ms = said.ts_ms ?? ts_ms
    const agent = said.agent ?? owner?.agent
    const context = entryOf(contexts, JSON.stringify([session, agent]), () => {
      return { partition: 0, isFresh: true, repeats: createRepeats() }
    })
    if (said.model !== undefined) models.set(context, said.model)
    if (said.usage !== undefined) onUsage?.(said.usage, models.get(context), ts_ms)
    for (const step of said.steps) {
      if (step.kind === 'compaction') {
        if (context.isFresh) continue
        context.isFresh = true
        context.partition++
        compacted.add(context)
      } else if (step.kind === 'call') {
        context.isFresh = false
        calls.set(step.id, { ...step, ts_ms })
      } else {
        context.isFresh = false
        const taken = take(step)
        if (taken === null) continue
        const { called_ms, ...result } = taken
        follow(step, context)
        const isCompacted = compacted.delete(context)
        const took_ms = called_ms > 0 ? ts_ms - called_ms : undefined
        const model = models.get(context)
        yield { ...result, model, took_ms, session, agent, ts_ms, context, isCompacted }
      }
    }
  }

  function follow({ epoch = 0 }: LoggedResult, context: Context): void {
    if (epoch <= context.partition) return
    context.partition = epoch
    compacted.add(context)
  }

  function take(result: LoggedResult) {
    const { id, text, is_error = false, isRestamped = false } = result
    const call = id === undefined ? undefined : calls.take(id)
    tally.results++
    if (text === null) {
      tally.skipped.no_text++
      return null
    }
    const { tool, args } = result.tool === undefined ? (call ?? { args: undefined }) : result
    const called_ms = call?.ts_ms ?? 0
    if (tool === undefined) tally.without_call++
    return { tool, args, call_id: id, text, is_error, isRestamped, called_ms }
  }
}

/** The results of logs, with the path of each; one that cannot be read to its end has the first. */
export function* readLogs(
  files: readonly LogFile[],
): Generator<MinedResult & { readonly path: string }> {
  for (const { path } of files) {
    try {
      for (const result of readLog(path, noTally())) yield { ...result, path }
    } catch (error) {
      if (!(error instanceof UnreadableLog)) throw error
    }
  }
}

function read(value: Readonly<Record<string, unknown>>): LogLine | null {
  for (const dialect of DIALECTS) {
    const line = dialect(value)
    if (line !== null) return line
  }
  return null
}

/** The state of one context of an agent: the session's own, or a sub-agent's. */
interface Context {
  /** Compactions so far. */
  partition: number
  /** Whether something came since the last compaction: a log has one in several lines. */
  isFresh: boolean
  readonly repeats: Repeats
}

/**
 * Contexts of one file that are followed at once; logs have a handful. Beyond it the oldest context
 * is forgotten and begins again.
 */
const MAX_CONTEXTS = 1_000

/** A call whose result has not come yet. */
export interface PendingCall {
  readonly tool: string
  readonly args: unknown
  /** Unix milliseconds; 0 if unknown. */
  readonly ts_ms?: number
}

/** Calls that may wait at once; agents have a few. Beyond it the oldest is forgotten. */
const MAX_CALLS = 256

/** Calls by their ids, until their results come. */
export class PendingCalls extends BoundedMap<string, PendingCall> {
  constructor() {
    super(MAX_CALLS)
  }

  /** The call, which is forgotten with that. */
  take(id: string): PendingCall | undefined {
    const call = this.get(id)
    this.delete(id)
    return call
  }
}
