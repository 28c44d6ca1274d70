import { existsSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { listLogs } from '../../tune/logs/list-logs.ts'
import { applyAccepted } from './apply-proposals.ts'
import type { TuningDone, TuningTask } from './auto-tune.ts'
import { runAnalysis } from './run-analysis.ts'

/** The lowest there is. On Linux it is the thread's own. */
const NICENESS = 19

if (process.platform === 'linux') setPriority(0, NICENESS)
parentPort?.postMessage(tune(workerData as TuningTask))

/** Analyzes the logs, and applies what the guard accepted if that is wanted. */
function tune({ place, tenant, logs, sinceMs, mode }: TuningTask): TuningDone {
  const { proposals, conversations } = runAnalysis(listLogs(logs.filter(existsSync)), {
    ...{ place, tenant, sinceMs, tokens: {}, vendor: 'anthropic' },
    ...{ elides: true, fetched: 1, isProxied: true },
  })
  const version = mode === 'apply' ? applyAccepted(place, tenant, proposals) : null
  return {
    ...{ tenant, conversations: conversations.length, accepted: proposals.changes.length },
    ...(version === null ? {} : { version: version.id }),
  }
}
