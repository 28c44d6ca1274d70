import { join } from 'node:path'
import { listLogs } from '../../src/tune/logs/list-logs.ts'
import { noTally, readLog } from '../../src/tune/logs/read-log.ts'
import type { SessionResult } from '../../test/support/log-writers.ts'

/** The recorded sessions of a corpus by their names, with what agents' logs say of each result. */
export function corpusSessions(corpus: string): ReadonlyMap<string, readonly SessionResult[]> {
  const sessions = new Map<string, SessionResult[]>()
  for (const { path } of listLogs([join(corpus, 'sessions')]).files) {
    for (const result of readLog(path, noTally())) {
      const {
        session = 'none',
        tool = 'unknown',
        args,
        text,
        is_error,
        isCompacted,
        model,
      } = result
      const results = sessions.get(session) ?? []
      sessions.set(session, results)
      const call_id = result.call_id ?? `${session} ${results.length}`
      const ts_ms = result.ts_ms || results.length + 1
      const known = typeof args === 'object' && args !== null ? { ...args } : {}
      const call = { tool, args: known, call_id, model, ts_ms }
      results.push({ ...call, text, is_error, compacted: isCompacted })
    }
  }
  return sessions
}
