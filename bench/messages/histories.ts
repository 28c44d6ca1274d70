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
  gemini_generate: ({ tool, args, text }, id) => [
    { role: 'model', parts: [{ functionCall: { id, name: tool, args } }] },
    { role: 'user', parts: [{ functionResponse: { id, name: tool, response: { output: text } } }] },
  ],
  bedrock_converse: ({ tool, args, text }, id) => [
    { role: 'assistant', content: [{ toolUse: { toolUseId: id, name: tool, input: args } }] },
    { role: 'user', content: [{ toolResult: { toolUseId: id, content: [{ text }] } }] },
  ],
}

/** The first message of each shape, and the member with the conversation. */
const said = (text: string) => ({ role: 'user', content: text })
const BEGINNINGS: Readonly<Record<RouteName, { readonly list: string; readonly first: object }>> = {
  anthropic_messages: { list: 'messages', first: said('Go on.') },
  openai_chat: { list: 'messages', first: said('Go on.') },
  openai_responses: { list: 'input', first: said('Go on.') },
  gemini_generate: { list: 'contents', first: { role: 'user', parts: [{ text: 'Go on.' }] } },
  bedrock_converse: { list: 'messages', first: { role: 'user', content: [{ text: 'Go on.' }] } },
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
    const { list, first } = BEGINNINGS[route]
    const messages = [first, ...of.flat()]
    return new TextEncoder().encode(JSON.stringify({ model: 'm', stream: true, [list]: messages }))
  }
  return { earlier: body(turns.slice(0, -1)), later: body(turns) }
}
