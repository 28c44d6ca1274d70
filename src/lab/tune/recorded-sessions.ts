import { parseJson } from '../../core/json/parse-json.ts'
import { ObjectValue, type Value } from '../../core/json/value.ts'
import { entryOf } from '../entry-of.ts'
import type { LogList } from '../logs/list-logs.ts'
import { readLogs } from '../logs/read-log.ts'
import type { TimedCall } from '../speculation/mine-models.ts'

/**
 * The calls of logs by agent: a sub-agent has a context of its own, and so has what comes after a
 * compaction. Logs that cannot be read to their end give what they have.
 */
export function recordedSessions({ files }: LogList): ReadonlyMap<string, readonly TimedCall[]> {
  const sessions = new Map<string, TimedCall[]>()
  for (const result of readLogs(files)) {
    const { path, session = path, agent = '', tool, args, text, is_error, context } = result
    if (tool === undefined) continue
    const name = JSON.stringify([session, agent, context.partition])
    const call = { tool, args: argumentsOf(args), text, isError: is_error, tookMs: result.took_ms }
    entryOf(sessions, name, (): TimedCall[] => []).push(call)
  }
  return sessions
}

/** Arguments as a value; none if JSON has no such. */
export function argumentsOf(args: unknown): Value {
  const parsed = args === undefined ? undefined : parseJson(JSON.stringify(args))
  return parsed?.ok ? parsed.value : new ObjectValue([], [])
}
