import type { Step, TurnBody } from '../turns/bodies.ts'

interface Block {
  readonly [key: string]: unknown
}

const textOf = (text: string): Block => ({ type: 'text', text })

const MARK = { cache_control: { type: 'ephemeral' } }

interface Turns {
  /** Steps that it has. */
  readonly end: number
  readonly each: number
  /** Steps before which the user spoke, at the end too. */
  readonly spoken: ReadonlySet<number>
}

/**
 * A request to Anthropic's API of an agent that makes several calls a turn: one message with the
 * calls and one with their results. Breakpoints are at its last message, and at the last one of the
 * turn before.
 */
export function parallelTurnBody(
  steps: readonly Step[],
  { end, each, spoken }: Turns,
  tools: readonly string[],
): TurnBody {
  const contents: Block[][] = [[textOf('Do what is asked.')]]
  const speak = (before: number) => {
    if (spoken.has(before)) contents.push([textOf('It is done.')], [textOf('Then go on.')])
  }
  for (let from = 0; from < end; from += each) {
    speak(from)
    const made = steps.slice(from, Math.min(end, from + each))
    contents.push(
      made.map(({ tool, args }, at) => {
        return { type: 'tool_use', id: `call_${from + at}`, name: tool, input: args }
      }),
      made.map(({ text, isError }, at) => ({
        type: 'tool_result',
        tool_use_id: `call_${from + at}`,
        content: text,
        ...(isError ? { is_error: true } : {}),
      })),
    )
  }
  if (end % each === 0) speak(end)
  const last = contents.length - 1
  const breakpoints = last > 2 ? [last - 2, last] : [last]
  for (const at of breakpoints) Object.assign(contents[at]!.at(-1)!, MARK)
  const messages = contents.map((content, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content,
  }))
  const body = {
    model: 'claude-sonnet-4-5',
    max_tokens: 8192,
    system: [{ type: 'text', text: 'You are an agent.', ...MARK }],
    tools: tools.map(name => ({ name, input_schema: { type: 'object' } })),
    // As Claude Code does.
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    messages,
  }
  return { bytes: new TextEncoder().encode(JSON.stringify(body)), breakpoints }
}
