import {
  type Dialect,
  type Fields,
  fieldsOf,
  type LogStep,
  textField,
  textOf,
  timeOf,
} from './log-line.ts'

const CALLS: ReadonlySet<unknown> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
])
const OUTPUTS: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
])
/** What a shell call is named that says no name. */
const LOCAL_SHELL = 'local_shell'

/** A line of a Codex rollout (`~/.codex/sessions`); items of the first versions stand in the line itself. */
export const codex: Dialect = line => {
  const { type } = line
  const payload = fieldsOf(line['payload'])
  const ts_ms = timeOf(line['timestamp'])
  const at = ts_ms === undefined ? {} : { ts_ms }
  if (type === 'session_meta' && payload !== null) {
    const session = textField(payload, 'id')
    return { ...at, ...(session === undefined ? {} : { session }), steps: [] }
  }
  if (type === 'compacted') return { ...at, steps: [{ kind: 'compaction' }] }
  if (type === 'event_msg' && payload !== null) {
    const isCompaction = payload['type'] === 'context_compacted'
    return { ...at, steps: isCompaction ? [{ kind: 'compaction' }] : [] }
  }
  const item = type === 'response_item' ? payload : payload === null ? line : null
  const steps = item === null ? null : stepsOf(item)
  return steps === null ? null : { ...at, steps }
}

/** `null` for what is no item of a conversation. */
function stepsOf(item: Fields): readonly LogStep[] | null {
  const { type } = item
  const id = textField(item, 'call_id') ?? textField(item, 'id')
  if (CALLS.has(type)) {
    return id === undefined ? [] : [{ kind: 'call', id, tool: toolOf(item), args: argsOf(item) }]
  }
  if (OUTPUTS.has(type)) {
    return [{ kind: 'result', ...outputOf(item['output']), ...(id === undefined ? {} : { id }) }]
  }
  return type === 'message' || type === 'reasoning' ? [] : null
}

/** Servers' tools have a name in two parts. */
function toolOf(item: Fields): string {
  const name = textField(item, 'name') ?? LOCAL_SHELL
  return `${textField(item, 'namespace') ?? ''}${name}`
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
