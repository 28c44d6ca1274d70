import { existsSync } from 'node:fs'
import { setPriority } from 'node:os'
import { anthropic } from '../../core/dialects/anthropic.ts'
import { ownThread } from '../../threads/own-thread.ts'
import { analyze } from '../analysis.ts'
import { listLogs } from '../logs/list-logs.ts'
import { applyAccepted } from '../versions/proposals.ts'
import type { TuningDone, TuningTask } from './auto-tune.ts'
import { readPriors } from './read-priors.ts'

const { port, data } = ownThread<TuningTask>()
if (process.platform === 'linux') setPriority(0, data.niceness)
port.postMessage(await tune(data))

/** Analyzes the logs, and applies what the guard accepted if that is wanted. */
async function tune(task: TuningTask): Promise<TuningDone> {
  const { place, tenant, logs, sinceMs, mode, providers } = task
  const now = Date.now()
  const priors = await readPriors({ dataDir: place.data_dir, tenant, providers, now })
  const { proposals, seen } = analyze(listLogs(logs.filter(existsSync)), {
    place,
    tenant,
    sinceMs,
    priors,
    tokens: {},
    vendor: anthropic.vendor.name,
    elides: true,
    fetched: 1,
    isProxied: true,
  })
  const version = mode === 'apply' ? applyAccepted(place, tenant, proposals) : null
  return {
    tenant,
    conversations: seen.length,
    accepted: proposals.changes.length,
    ...(version === null ? {} : { version: version.id }),
  }
}
