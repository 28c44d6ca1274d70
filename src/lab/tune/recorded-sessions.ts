import { parseJson } from '../../core/json/parse-json.ts'
import { ObjectValue, type Value } from '../../core/json/value.ts'
import { UnreadableLog } from '../logs/chunks.ts'
import type { LogList } from '../logs/list-logs.ts'
import { noTally, readLog } from '../logs/read-log.ts'
import type { TimedCall } from '../speculation/mine-models.ts'

/**
 * The calls of logs by agent: a sub-agent has a context of its own, and so has what comes after a
 * compaction. Logs that cannot be read to their end give what they have.
 */
export function recordedSessions({ files }: LogList): ReadonlyMap<string, readonly TimedCall[]> {
  const sessions = new Map<string, TimedCall[]>()
  const add = (path: string) => {
    for (const result of readLog(path, noTally())) {
      const { session = path, agent = '', tool, args, text, is_error, took_ms, context } = result
      if (tool === undefined) continue
      const name = JSON.stringify([session, agent, context.partition])
      const calls = sessions.get(name) ?? []
      sessions.set(name, calls)
      calls.push({ tool, args: argumentsOf(args), text, isError: is_error, tookMs: took_ms })
    }
  }
  for (const { path } of files) {
    try {
      add(path)
    } catch (error) {
      if (!(error instanceof UnreadableLog)) throw error
    }
  }
  return sessions
}

/** Arguments as a value; none if JSON has no such. */
export function argumentsOf(args: unknown): Value {
  const parsed = args === undefined ? undefined : parseJson(JSON.stringify(args))
  return parsed?.ok ? parsed.value : new ObjectValue([], [])
}
