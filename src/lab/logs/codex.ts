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

const CALLS: ReadonlySet<unknown> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'tool_search_call',
])
const OUTPUTS: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
  'tool_search_output',
])
const CALL_SUFFIX = '_call'
const MCP_NAMESPACE = 'mcp__'
const SEPARATOR = '__'

/**
 * A line of a Codex rollout (`~/.codex/sessions`); items of the first versions stand in the line
 * itself.
 */
export const codex: Dialect = line => {
  const { type } = line
  const payload = fieldsOf(line['payload'])
  const ts_ms = timeOf(line['timestamp'])
  const at = ts_ms === undefined ? {} : { ts_ms }
  if (type === 'session_meta' && payload !== null) return { ...at, ...headOf(payload), steps: [] }
  if (isBareHead(line)) return { ...at, ...headOf(line), steps: [] }
  if (type === 'compacted') return { ...at, steps: [{ kind: 'compaction' }] }
  if (type === 'turn_context' && payload !== null) {
    const model = textField(payload, 'model')
    return { ...at, ...(model === undefined ? {} : { model }), steps: [] }
  }
  if (type === 'event_msg' && payload !== null) {
    const isCompaction = payload['type'] === 'context_compacted'
    const usage = usageOf(payload)
    return {
      ...at,
      ...(usage === null ? {} : { usage }),
      steps: isCompaction ? [{ kind: 'compaction' }] : [],
    }
  }
  const item = type === 'response_item' ? payload : payload === null ? line : null
  const steps = item === null ? null : stepsOf(item)
  return steps === null ? null : { ...at, steps }
}

/** Copies of an answer in a fork have its sums, but another time. */
function usageOf(payload: Fields): LoggedUsage | null {
  const info = payload['type'] === 'token_count' ? fieldsOf(payload['info']) : null
  const last = fieldsOf(info?.['last_token_usage'])
  if (last === null) return null
  const cached = countField(last, 'cached_input_tokens')
  const usage = {
    uncached: Math.max(0, countField(last, 'input_tokens') - cached),
    cache_read: cached,
    cache_write: 0,
    cache_write_long: 0,
    output: countField(last, 'output_tokens'),
  }
  return { id: JSON.stringify(info), usage }
}

/** The first line of the first versions, which has no type. */
function isBareHead(line: Fields): boolean {
  return line['type'] === undefined && line['payload'] === undefined && 'instructions' in line
}

/** A sub-agent has a rollout of its own, which names its parent in one of two ways. */
function headOf(meta: Fields): Pick<LogLine, 'opens'> {
  const session = textField(meta, 'id')
  if (session === undefined) return {}
  const isSide =
    meta['thread_source'] === 'subagent' || fieldsOf(meta['source'])?.['subagent'] !== undefined
  return { opens: { session, ...(isSide ? { agent: session } : {}) } }
}

/** Returns `null` if the value is not an item of a conversation. */
function stepsOf(item: Fields): readonly LogStep[] | null {
  const { type } = item
  const id = textField(item, 'call_id') ?? textField(item, 'id')
  if (CALLS.has(type)) {
    return id === undefined ? [] : [{ kind: 'call', id, tool: toolOf(item), args: argsOf(item) }]
  }
  if (OUTPUTS.has(type)) {
    const result = { kind: 'result', isRestamped: true, ...outputOf(item['output']) } as const
    return [id === undefined ? result : { ...result, id }]
  }
  return type === 'message' || type === 'reasoning' ? [] : null
}

/**
 * Calls without a name are named by their type. Only the namespaces of servers belong to the name;
 * some versions end it with `__`.
 */
function toolOf(item: Fields): string {
  const name = textField(item, 'name') ?? String(item['type']).slice(0, -CALL_SUFFIX.length)
  const namespace = textField(item, 'namespace')
  if (namespace?.startsWith(MCP_NAMESPACE) !== true) return name
  return namespace.endsWith(SEPARATOR) ? `${namespace}${name}` : `${namespace}${SEPARATOR}${name}`
}

/** Arguments are JSON in a text, a free text, or a shell's words. */
function argsOf(item: Fields): unknown {
  const action = fieldsOf(item['action'])
  if (action !== null) return { command: action['command'] }
  const { input } = item
  if (input !== undefined) return typeof input === 'string' ? { input } : input
  const text = textField(item, 'arguments')
  if (text === undefined) return item['arguments']
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined // a model wrote it; the call then has no arguments that could be read
  }
}

/** A text, parts, or either beside whether the call succeeded. */
function outputOf(output: unknown): { readonly text: string | null; readonly is_error?: boolean } {
  const wrapped = fieldsOf(output)
  if (wrapped === null) return { text: textOf(output) }
  return { text: textOf(wrapped['content']), is_error: wrapped['success'] === false }
}
