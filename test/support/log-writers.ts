/** A tool result of a session, to be written as an agent's log would have it. */
export interface SessionResult {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly text: string
  readonly is_error: boolean
  readonly call_id: string
  /** The model that made the call; absent if it is not known. */
  readonly model?: string | undefined
  /** Unix milliseconds. */
  readonly ts_ms: number
  /** Whether the context was compacted before it. */
  readonly compacted: boolean
}

type Lines = readonly object[]

/**
 * The session as Claude Code writes it: call and result in messages, and the result once more
 * beside the second.
 */
export function claudeCodeLog(session: string, results: readonly SessionResult[]): string {
  const common = (ts_ms: number) => ({
    parentUuid: '6d2c1a52-92a5-4f7e-a6c5-0a3d62c7d8b1',
    isSidechain: false,
    userType: 'external',
    cwd: '/srv/project',
    sessionId: session,
    version: '2.1.0',
    gitBranch: 'main',
    timestamp: new Date(ts_ms).toISOString(),
  })
  return toText(
    results.flatMap(({ tool, args, text, is_error, call_id, model, ts_ms, compacted }): Lines => {
      const call = { type: 'tool_use', id: call_id, name: tool, input: args }
      const result = { type: 'tool_result', tool_use_id: call_id, content: text, is_error }
      const boundary = { type: 'system', subtype: 'compact_boundary', content: 'Compacted' }
      return [
        ...(compacted ? [{ ...common(ts_ms), ...boundary }] : []),
        {
          ...common(ts_ms),
          type: 'assistant',
          message: { role: 'assistant', model, content: [call] },
        },
        {
          ...common(ts_ms),
          type: 'user',
          message: { role: 'user', content: [result] },
          toolUseResult: { stdout: text, stderr: '', interrupted: false },
        },
      ]
    }),
  )
}

/** The session as Codex writes it. */
export function codexLog(session: string, results: readonly SessionResult[]): string {
  const item = (ts_ms: number, type: string, payload: object) => {
    return { timestamp: new Date(ts_ms).toISOString(), type, payload }
  }
  const meta = item(results[0]?.ts_ms ?? 0, 'session_meta', { id: session, cwd: '/srv/project' })
  const lines = results.flatMap(
    ({ tool, args, text, is_error, call_id, model, ts_ms, compacted }): Lines => {
      const call = { type: 'function_call', name: tool, arguments: JSON.stringify(args), call_id }
      const output = is_error ? { content: text, success: false } : text
      return [
        ...(compacted ? [item(ts_ms, 'compacted', { message: '' })] : []),
        ...(model === undefined ? [] : [item(ts_ms, 'turn_context', { model })]),
        item(ts_ms, 'response_item', call),
        item(ts_ms, 'response_item', { type: 'function_call_output', call_id, output }),
      ]
    },
  )
  return toText([meta, ...lines])
}

/** The session as `haversack replay` reads it. */
export function recordedLog(session: string, results: readonly SessionResult[]): string {
  let epoch = 0
  return toText(
    results.map(({ compacted, ts_ms, ...result }, index) => {
      // Nothing was there to be compacted before the first.
      if (compacted && index > 0) epoch++
      return { session, ...result, ts: ts_ms, epoch }
    }),
  )
}

function toText(lines: Lines): string {
  return lines.map(line => `${JSON.stringify(line)}\n`).join('')
}
