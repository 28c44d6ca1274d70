import { hash } from 'node:crypto'
import { endpointClass } from '../../core/telemetry/endpoint-class.ts'
import { entryOf } from '../entry-of.ts'
import type { LogList } from '../logs/list-logs.ts'
import { type MinedResult, readLogs } from '../logs/read-log.ts'

/** A tool result of a recorded conversation. */
export interface RecordedResult
  extends Pick<MinedResult, 'tool' | 'args' | 'text' | 'is_error' | 'call_id' | 'model' | 'agent'> {
  /** Its endpoint class, by which the configuration can name it. */
  readonly class: string
  /** Compactions of its context before it. */
  readonly epoch: number
}

/** What one agent did for one task, with its sub-agents. */
export interface Conversation {
  /** Tells it apart from others, and is the same in each reading. Never written anywhere. */
  readonly id: string
  readonly results: readonly RecordedResult[]
  /** When its last result came, Unix milliseconds; absent: its log does not say. */
  readonly lastMs?: number
}

interface ReadOptions {
  /** Unix milliseconds: earlier results are passed over; those without a time are not. */
  readonly sinceMs?: number
}

/**
 * The conversations of logs, in the order of their first results. A session that continues in
 * another log is one conversation, and a result that stands in both counts once. Logs that cannot
 * be read to their end give what they have.
 */
export function readConversations(
  { files }: LogList,
  { sinceMs = 0 }: ReadOptions = {},
): readonly Conversation[] {
  const conversations = new Map<string, RecordedResult[]>()
  const lasts = new Map<string, number>()
  const seen = new Set<string>()
  for (const mined of readLogs(files)) {
    if (mined.ts_ms > 0 && mined.ts_ms < sinceMs) continue
    const id = mined.session ?? mined.path
    const key = identityOf(id, mined)
    if (key !== null && seen.has(key)) continue
    if (key !== null) seen.add(key)
    entryOf(conversations, id, (): RecordedResult[] => []).push(toResult(mined))
    lasts.set(id, Math.max(lasts.get(id) ?? 0, mined.ts_ms))
  }
  return [...conversations].map(([id, results]) => ({ id, results, lastMs: lasts.get(id) ?? 0 }))
}

/** `null` if the log does not name calls. */
function identityOf(session: string, { call_id, text }: MinedResult): string | null {
  if (call_id === undefined) return null
  return hash('sha256', JSON.stringify([session, call_id, text]), 'base64')
}

function toResult(mined: MinedResult): RecordedResult {
  const { tool, args, text, is_error, call_id, agent, context, model } = mined
  const of = { class: endpointClass(tool, args), epoch: context.partition }
  return { tool, args, text, is_error, call_id, agent, model, ...of }
}
