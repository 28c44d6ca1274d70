import { claudeCode } from '../logs/claude-code.ts'
import type { LogFile } from '../logs/list-logs.ts'
import { type Fields, fieldsOf, type LogLine, textField } from '../logs/log-line.ts'
import { readLines } from '../logs/read-lines.ts'
import { PendingCalls } from '../logs/read-log.ts'
import type { BillCall, BillResult, BillSession } from './session.ts'

type CallSoFar = { -readonly [Key in keyof BillCall]: BillCall[Key] }

/** What one context of an agent has so far. */
interface OpenSession {
  readonly calls: CallSoFar[]
  /** Id of the message that the last call wrote. */
  message: string | undefined
  /** What came since the last call. */
  results: BillResult[]
  user: number
  userTexts: number
  compacted: boolean
  /** Unix seconds of the last line. */
  lastTs: number
}

/**
 * The calls of one log of Claude Code, with the `usage` that the provider counted; a session for
 * each context: the agent's own, and each sub-agent's.
 * @param billed ids of messages that other logs had: a resumed session's log repeats its history,
 * which is billed once, and whose results are left as they were
 * @throws UnreadableLog
 */
export function readBillSessions(
  { path }: LogFile,
  billed: Set<string>,
  count: (text: string) => number,
): readonly BillSession[] {
  const sessions = new Map<string, OpenSession>()
  const pending = new PendingCalls()
  const earlier = new Set(billed)
  for (const line of readLines(path)) {
    const said = line.ok ? claudeCode(line.value) : null
    if (!line.ok || said === null) continue
    const name = JSON.stringify([said.session, said.agent])
    const session = sessions.get(name) ?? noCalls()
    sessions.set(name, session)
    const message = fieldsOf(line.value['message'])
    if (line.value['type'] === 'assistant') {
      takeAnswer(session, message, said, { billed, earlier, count })
    } else takeUser(session, message, said, { pending, count })
    for (const step of said.steps) if (step.kind === 'call') pending.set(step.id, step)
    session.lastTs = (said.ts_ms ?? 1_000 * session.lastTs) / 1_000
  }
  return [...sessions].flatMap(([name, { calls }]) => (calls.length > 0 ? [{ name, calls }] : []))
}

function noCalls(): OpenSession {
  return {
    calls: [],
    message: undefined,
    results: [],
    user: 0,
    userTexts: 0,
    compacted: false,
    lastTs: 0,
  }
}

function takeAnswer(
  session: OpenSession,
  message: Fields | null,
  { usage: said, model = '', ts_ms, steps }: LogLine,
  { billed, earlier, count }: { billed: Set<string>; earlier: Set<string>; count: Count },
): void {
  if (said === undefined || earlier.has(said.id)) {
    Object.assign(session, { results: [], user: 0, userTexts: 0 })
    return
  }
  const { id, usage } = said
  const end = (ts_ms ?? 1_000 * session.lastTs) / 1_000
  if (session.message !== id) {
    billed.add(id)
    const { results, user, userTexts, compacted } = session
    session.calls.push({
      ts: session.lastTs || end,
      end,
      model,
      fresh: usage.uncached,
      read: usage.cache_read,
      write: usage.cache_write + usage.cache_write_long,
      hour: usage.cache_write_long,
      output: 0,
      said: 0,
      calls: 0,
      user,
      userTexts,
      compacted,
      results,
    })
    Object.assign(session, { ...noCalls(), calls: session.calls, message: id })
  }
  const call = session.calls.at(-1)!
  call.end = end
  // A line has what was written so far.
  call.output = Math.max(call.output, usage.output)
  for (const part of partsOf(message)) {
    const text = textField(part, 'text') ?? textField(part, 'thinking')
    if (text !== undefined) call.said += count(text)
  }
  for (const step of steps) {
    if (step.kind === 'call') call.calls += count(JSON.stringify(step.args ?? {}))
  }
}

type Count = (text: string) => number

function takeUser(
  session: OpenSession,
  message: Fields | null,
  { steps }: LogLine,
  { pending, count }: { pending: PendingCalls; count: Count },
): void {
  for (const step of steps) {
    if (step.kind === 'compaction') Object.assign(session, { compacted: true, results: [] })
    if (step.kind !== 'result' || step.text === null) continue
    const call = step.id === undefined ? undefined : pending.take(step.id)
    const { text, is_error: isError = false } = step
    session.results.push({ tool: call?.tool ?? '', args: call?.args, text, isError })
  }
  const content = message?.['content']
  const texts = typeof content === 'string' ? [content] : []
  for (const part of partsOf(message)) texts.push(textField(part, 'text') ?? '')
  for (const text of texts.filter(each => each !== '')) {
    session.user += count(text)
    session.userTexts++
  }
}

function partsOf(message: Fields | null): readonly Fields[] {
  const content = message?.['content']
  return Array.isArray(content) ? content.map(fieldsOf).filter(part => part !== null) : []
}
