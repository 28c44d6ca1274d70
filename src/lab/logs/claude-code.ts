import {
  countField,
  type Dialect,
  type Fields,
  fieldsOf,
  type LoggedUsage,
  type LogLine,
  type LogStep,
  textField,
  textOf,
  timeOf,
} from './log-line.ts'

/** Lines that report a compacted context; the second kind takes old results out of it. */
const BOUNDARIES: ReadonlySet<unknown> = new Set(['compact_boundary', 'microcompact_boundary'])
/** Prefix of the summary that replaces compacted messages, in logs that do not mark it. */
const SUMMARY =
  'This session is being continued from a previous conversation that ran out of context'

/**
 * A line of a Claude Code session (`~/.claude/projects`): calls and results are parts of messages.
 * Compactions are recognised by what they leave, not by the command. So automatic compactions
 * count, and cancelled ones do not.
 */
export const claudeCode: Dialect = line => {
  const type = line['type']
  if (type !== 'user' && type !== 'assistant' && type !== 'system') return null
  const message = fieldsOf(line['message'])
  if (type === 'system') {
    return isBoundary(line) ? placed(line, [{ kind: 'compaction' }]) : placed(line, [])
  }
  if (message === null) return null
  const content = message['content']
  if (type === 'user' && (line['isCompactSummary'] === true || isSummary(content))) {
    return placed(line, [{ kind: 'compaction' }])
  }
  const model = textField(message, 'model')
  const steps = Array.isArray(content) ? content.flatMap(stepsOf) : []
  // What the program itself answers is of `<synthetic>`.
  const isOfModel = model !== undefined && !model.startsWith('<')
  const usage = isOfModel ? usageOf(message) : null
  return {
    ...placed(line, steps),
    ...(isOfModel ? { model } : {}),
    ...(usage === null ? {} : { usage }),
  }
}

/** A message has a line for each of its parts; all say what the whole message was billed for. */
function usageOf(message: Fields): LoggedUsage | null {
  const id = textField(message, 'id')
  const said = fieldsOf(message['usage'])
  if (id === undefined || said === null) return null
  const written = countField(said, 'cache_creation_input_tokens')
  const long = countField(fieldsOf(said['cache_creation']), 'ephemeral_1h_input_tokens')
  const usage = {
    uncached: countField(said, 'input_tokens'),
    cache_read: countField(said, 'cache_read_input_tokens'),
    cache_write: Math.max(0, written - long),
    cache_write_long: long,
    output: countField(said, 'output_tokens'),
  }
  return { id, usage }
}

function placed(line: Fields, steps: readonly LogStep[]): LogLine {
  const session = textField(line, 'sessionId') ?? textField(line, 'session_id')
  const ts_ms = timeOf(line['timestamp'])
  // What the command prints as a stream names the call that a sub-agent works for.
  const parent = textField(line, 'parent_tool_use_id')
  const isSide = line['isSidechain'] === true || parent !== undefined
  return {
    ...(session === undefined ? {} : { session }),
    ...(isSide ? { agent: textField(line, 'agentId') ?? parent ?? 'agent' } : {}),
    ...(ts_ms === undefined ? {} : { ts_ms }),
    steps,
  }
}

function isBoundary(line: Fields): boolean {
  return BOUNDARIES.has(line['subtype'])
}

function isSummary(content: unknown): boolean {
  const text = textOf(content)
  return text?.startsWith(SUMMARY) === true
}

function stepsOf(part: unknown): readonly LogStep[] {
  const fields = fieldsOf(part)
  if (fields === null) return []
  if (fields['type'] === 'tool_use') {
    const id = textField(fields, 'id')
    const tool = textField(fields, 'name')
    if (id === undefined || tool === undefined) return []
    return [{ kind: 'call', id, tool, args: fields['input'] }]
  }
  if (fields['type'] !== 'tool_result') return []
  const id = textField(fields, 'tool_use_id')
  const is_error = fields['is_error'] === true
  const text = fields['content'] === undefined ? '' : textOf(fields['content'])
  return [{ kind: 'result', text, is_error, ...(id === undefined ? {} : { id }) }]
}
