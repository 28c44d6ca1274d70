import { statSync } from 'node:fs'
import { UnreadableLog } from '../logs/chunks.ts'
import type { LogFile } from '../logs/list-logs.ts'
import { account, type Bill, NO_CHANGES, noBill, totalOf } from './account.ts'
import { factorsOf, placeResults, type TokenFactor } from './place-results.ts'
import { countTokens, NO_RESULTS, SHIPPED_ARMS } from './play.ts'
import { readBillSessions } from './read-logs.ts'
import type { BillSession } from './session.ts'
import { type Pair, type Saving, summarize } from './summarize.ts'

const ARMS = { ...SHIPPED_ARMS, no_results: NO_RESULTS }
type ArmName = keyof typeof ARMS
const ARM_NAMES = Object.keys(ARMS) as ArmName[]

/** What logs were billed, and what that would have been with each arm. */
export interface LogsBill {
  readonly sessions: number
  readonly calls: number
  /** Sessions whose log has no true count of what the model wrote. */
  readonly estimated: number
  /** The provider's tokens for one of o200k, by model. */
  readonly factors: Readonly<Record<string, TokenFactor>>
  /** In input tokens that no cache has. */
  readonly direct: Bill
  readonly arms: Readonly<Record<ArmName, Saving>>
}

const MOST_BYTES = 32_000_000

/** The newest logs, up to what is played in about a minute, in the order that they have. */
export function newestLogs(files: readonly LogFile[], most = MOST_BYTES): readonly LogFile[] {
  const timed = files.map(file => ({
    file,
    at: statSync(file.path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }))
  const chosen = new Set<LogFile>()
  let bytes = 0
  for (const { file } of timed.toSorted((a, b) => b.at - a.at)) {
    if (chosen.size > 0 && bytes + file.bytes > most) break
    chosen.add(file)
    bytes += file.bytes
  }
  return files.filter(file => chosen.has(file))
}

/** @param onRead called for each log that was played */
export function billLogs(files: readonly LogFile[], onRead: () => void): LogsBill {
  const factors = factorsOf(sessionsOf(files), countTokens)
  const pairs = new Map(ARM_NAMES.map((name): [ArmName, Pair[]] => [name, []]))
  const direct = noBill()
  const counts = { sessions: 0, calls: 0, estimated: 0 }
  for (const session of sessionsOf(files, onRead)) {
    const placed = placeResults(session, factors, countTokens)
    const paid = account(placed, NO_CHANGES)
    counts.sessions++
    counts.calls += session.calls.length
    if (placed.isOutputEstimated) counts.estimated++
    for (const bucket of Object.keys(direct) as (keyof Bill)[]) direct[bucket] += paid[bucket]
    for (const [name, own] of pairs) {
      own.push({ direct: totalOf(paid), arm: totalOf(account(placed, ARMS[name](placed))) })
    }
  }
  const arms = Object.fromEntries([...pairs].map(([name, own]) => [name, summarize(own)]))
  return {
    ...counts,
    factors: Object.fromEntries(factors),
    direct,
    arms: arms as LogsBill['arms'],
  }
}

function* sessionsOf(files: readonly LogFile[], onRead = () => {}): Generator<BillSession> {
  const billed = new Set<string>()
  for (const file of files) {
    try {
      yield* readBillSessions(file, billed, countTokens)
    } catch (error) {
      if (!(error instanceof UnreadableLog)) throw error
    }
    onRead()
  }
}
