import type { RouteName } from '../../src/core/conversation/parse/scan-request.ts'
import { readSessions } from '../lines/recording.ts'
import { generatedTexts } from '../support/generated-text.ts'

/** A call and what came of it. */
export interface Step {
  readonly tool: string
  readonly args: unknown
  readonly text: string
}

/** Recorded steps, all sources in turn; made-up ones where there is no corpus. */
export function stepsOf(corpus: string): readonly Step[] {
  if (corpus !== '') return [...readSessions(corpus).values()].flat()
  return generatedTexts(9, 400).map((text, i) => ({ tool: 'run', args: { id: i }, text }))
}

type Turn = (step: Step, id: string) => readonly object[]

const TURNS: Readonly<Record<RouteName, Turn>> = {
  anthropic_messages: ({ tool, args, text }, id) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input: args }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
  ],
  openai_chat: ({ tool, args, text }, id) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id, type: 'function', function: { name: tool, arguments: JSON.stringify(args) } },
      ],
    },
    { role: 'tool', tool_call_id: id, content: text },
  ],
  openai_responses: ({ tool, args, text }, id) => [
    { type: 'function_call', call_id: id, name: tool, arguments: JSON.stringify(args) },
    { type: 'function_call_output', call_id: id, output: text },
  ],
}

/** The bodies of two turns, one after the other, the second of about `bytes` bytes. */
export function historyOf(
  route: RouteName,
  steps: readonly Step[],
  bytes: number,
): { readonly earlier: Uint8Array; readonly later: Uint8Array } {
  const turns: (readonly object[])[] = []
  for (let length = 0; length < bytes; length += JSON.stringify(turns.at(-1)).length) {
    const step = steps[turns.length % steps.length]!
    // One result alone is not to be most of a small history.
    turns.push(
      TURNS[route](
        { ...step, text: step.text.slice(0, bytes / 4).toWellFormed() },
        `call_${turns.length}`,
      ),
    )
  }
  const body = (of: readonly (readonly object[])[]): Uint8Array => {
    const list = [{ role: 'user', content: 'Go on.' }, ...of.flat()]
    const key = route === 'openai_responses' ? 'input' : 'messages'
    return new TextEncoder().encode(JSON.stringify({ model: 'm', stream: true, [key]: list }))
  }
  return { earlier: body(turns.slice(0, -1)), later: body(turns) }
}
