/** A tool result that a format makes smaller: records, different for each seed. */
export function records(seed: number): string {
  const rows = Array.from({ length: 12 }, (_, i) => ({
    id: seed * 100 + i,
    name: `item ${seed}-${i}`,
    state: i % 3 === 0 ? 'open' : 'closed',
  }))
  return JSON.stringify(rows, null, 2)
}

/**
 * Requests of one conversation, turn by turn: each carries the whole history, as agents write it.
 */
export interface Conversation {
  readonly path: string
  /** The body of a turn, from 0, with its messages behind everything else. */
  body(turn: number): string
  /** What stands before the first message, and what behind the last. */
  readonly open: string
  readonly close: string
}

/**
 * Written by hand where a serialiser would not: white space, escapes, numbers in other spellings.
 */
function turnsOf(open: string, message: (turn: number) => string) {
  const close = ' ]\n}'
  const body = (turn: number) =>
    open + Array.from({ length: turn + 1 }, (_, n) => message(n)).join(' ,\n') + close
  return { open, close, body }
}

const json = JSON.stringify

export const CONVERSATIONS: Readonly<Record<string, Conversation>> = {
  anthropic: {
    path: '/anthropic/v1/messages?beta=true',
    ...turnsOf(
      '{ "model": "claude-sonnet-4", "max_tokens": 1e3, "unknown": {"z": 1.0},\n"messages" : [',
      n =>
        `{"role":"assistant","content":[{"type":"tool_use","id":"t${n}","name":"list","input":{"page":${n}.0}}]},` +
        `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t${n}","content":${
          n % 2 === 0 ? json(records(n)) : `[{"type":"text","text":${json(records(n))}}]`
        }},{"type":"text","text":"caf\\u00e9 \\/ ${n}"}]}`,
    ),
  },
  chat: {
    path: '/openai/v1/chat/completions',
    ...turnsOf(
      '{ "model": "gpt-5", "temperature": 0.70, "messages": [',
      n =>
        `{"role":"assistant","tool_calls":[{"id":"c${n}","type":"function","function":{"name":"list","arguments":"{\\"page\\": ${n}}"}}]},` +
        `{"role":"tool","tool_call_id":"c${n}","content":${json(records(n))}}`,
    ),
  },
  responses: {
    path: '/openai/v1/responses',
    ...turnsOf(
      '{ "model": "gpt-5", "store": false, "input": [',
      n =>
        `{"type":"function_call","call_id":"c${n}","name":"list","arguments":"{\\"page\\": ${n}}"},` +
        `{"type":"function_call_output","call_id":"c${n}","output":${json(records(n))}}`,
    ),
  },
}
