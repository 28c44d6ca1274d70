/** A piece of what a scripted model says. */
export type Said =
  | { readonly text: string }
  | { readonly thinking: string }
  | {
      readonly call: string
      readonly id: string
      readonly input: object
      /** What a tool of Responses that takes a text is given in place of the input. */
      readonly program?: string
    }

export type DialectName = 'anthropic' | 'chat' | 'responses'

const USAGE = { input_tokens: 1_000, cache_read_input_tokens: 500, cache_creation_input_tokens: 20 }

type Events = (said: readonly Said[], id: string) => string[]

const named = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

function stopOf(said: readonly Said[]): string {
  return said.some(each => 'call' in each) ? 'tool_use' : 'end_turn'
}

/** Answers as events. */
export const STREAMS: Readonly<Record<DialectName, Events>> = {
  anthropic(said, id) {
    const head = { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [] }
    const usage = { ...USAGE, output_tokens: 1 }
    return [
      named('message_start', {
        message: { ...head, stop_reason: null, stop_sequence: null, usage },
      }),
      named('ping', {}),
      ...said.flatMap((each, index) => anthropicEvents(each, index)),
      named('message_delta', {
        delta: { stop_reason: stopOf(said), stop_sequence: null },
        usage: { output_tokens: 10 },
      }),
      named('message_stop', {}),
    ]
  },
  chat(said, id) {
    const chunk = (choices: readonly object[], more: object = {}) =>
      `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', choices, ...more })}\n\n`
    const delta = (value: object, reason: string | null = null) =>
      chunk([{ index: 0, delta: value, finish_reason: reason }])
    let calls = 0
    return [
      delta({ role: 'assistant', content: '' }),
      ...said.flatMap(each => {
        if ('text' in each) return halves(each.text).map(content => delta({ content }))
        if ('thinking' in each) return []
        const index = calls++
        const args = JSON.stringify(each.input)
        const piece = (value: object) => delta({ tool_calls: [{ index, ...value }] })
        const begun = { name: each.call, arguments: '' }
        return [
          piece({ id: each.id, type: 'function', function: begun }),
          ...halves(args).map(half => piece({ function: { arguments: half } })),
        ]
      }),
      delta({}, calls > 0 ? 'tool_calls' : 'stop'),
      chunk([], { usage: { prompt_tokens: 1_520, completion_tokens: 10, total_tokens: 1_530 } }),
      'data: [DONE]\n\n',
    ]
  },
  responses(said, id) {
    const response = WHOLE.responses(said, id) as { readonly output: readonly object[] }
    let sequence_number = 0
    const event = (type: string, data: object) =>
      named(type, { ...data, sequence_number: sequence_number++ })
    return [
      event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      ...response.output.flatMap((item, output_index) => {
        const begun = { ...item, ...EMPTY[(item as ResponseItem).type] }
        return [
          event('response.output_item.added', { output_index, item: begun }),
          ...contentEvents(item as ResponseItem, output_index, event),
          event('response.output_item.done', { output_index, item }),
        ]
      }),
      event('response.completed', { response }),
    ]
  },
}

const EMPTY: Readonly<Record<string, object>> = {
  message: { status: 'in_progress', content: [] },
  function_call: { status: 'in_progress', arguments: '' },
}

interface ResponseItem {
  readonly id: string
  readonly type: string
  readonly arguments?: string
  readonly content?: readonly { readonly text: string }[]
}

function contentEvents(
  { id: item_id, type, arguments: args = '', content }: ResponseItem,
  output_index: number,
  event: (type: string, data: object) => string,
): string[] {
  const at = { item_id, output_index }
  if (type === 'function_call') {
    return halves(args).map(delta =>
      event('response.function_call_arguments.delta', { ...at, delta }),
    )
  }
  if (type !== 'message') return []
  const place = { ...at, content_index: 0 }
  const text = content?.[0]?.text ?? ''
  const part = { type: 'output_text', text: '', annotations: [] }
  return [
    event('response.content_part.added', { ...place, part }),
    ...halves(text).map(delta => event('response.output_text.delta', { ...place, delta })),
    event('response.output_text.done', { ...place, text }),
    event('response.content_part.done', { ...place, part: { ...part, text } }),
  ]
}

function anthropicEvents(said: Said, index: number): string[] {
  const block = anthropicBlock(said)
  const delta = (value: object) => named('content_block_delta', { index, delta: value })
  const stop = named('content_block_stop', { index })
  const start = (content_block: object) => named('content_block_start', { index, content_block })
  if ('text' in said) {
    const texts = halves(said.text).map(text => delta({ type: 'text_delta', text }))
    return [start({ ...block, text: '' }), ...texts, stop]
  }
  if ('thinking' in said) {
    return [
      start({ type: 'thinking', thinking: '', signature: '' }),
      delta({ type: 'thinking_delta', thinking: said.thinking }),
      delta({ type: 'signature_delta', signature: `sig of ${said.thinking}` }),
      stop,
    ]
  }
  const args = halves(JSON.stringify(said.input))
  const pieces = args.map(partial_json => delta({ type: 'input_json_delta', partial_json }))
  return [start({ ...block, input: {} }), ...pieces, stop]
}

function halves(text: string): string[] {
  const middle = text.length >> 1
  return [text.slice(0, middle), text.slice(middle)].filter(half => half !== '')
}

function anthropicBlock(said: Said): object {
  if ('text' in said) return { type: 'text', text: said.text }
  if ('thinking' in said) {
    return { type: 'thinking', thinking: said.thinking, signature: `sig of ${said.thinking}` }
  }
  return { type: 'tool_use', id: said.id, name: said.call, input: said.input }
}

/** Answers in one piece. */
export const WHOLE: Readonly<Record<DialectName, (said: readonly Said[], id: string) => object>> = {
  anthropic: (said, id) => ({
    ...{ id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' },
    content: said.map(anthropicBlock),
    ...{ stop_reason: stopOf(said), stop_sequence: null },
    usage: { ...USAGE, output_tokens: 10 },
  }),
  chat(said, id) {
    const texts = said.flatMap(each => ('text' in each ? each.text : []))
    const tool_calls = said.flatMap(each =>
      'call' in each
        ? {
            ...{ id: each.id, type: 'function' },
            function: { name: each.call, arguments: JSON.stringify(each.input) },
          }
        : [],
    )
    const content = texts.length === 0 ? null : texts.join('')
    const isCalling = tool_calls.length > 0
    const message = { role: 'assistant', content, ...(isCalling && { tool_calls }) }
    const finish_reason = isCalling ? 'tool_calls' : 'stop'
    return {
      ...{ id, object: 'chat.completion', created: 1, model: 'gpt-4o' },
      choices: [{ index: 0, message, finish_reason }],
      usage: { prompt_tokens: 1_520, completion_tokens: 10, total_tokens: 1_530 },
    }
  },
  responses: (said, id) => ({
    ...{ id, object: 'response', created_at: 1, model: 'gpt-5', status: 'completed' },
    ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, tools: [] },
    output: said.map((each, index) => {
      const item = { id: `${id}_${index}`, status: 'completed' }
      if ('text' in each) {
        const content = [{ type: 'output_text', text: each.text, annotations: [] }]
        return { ...item, type: 'message', role: 'assistant', content }
      }
      if ('thinking' in each) return { id: item.id, type: 'reasoning', summary: [] }
      const { call: name, id: call_id, input, program } = each
      if (program !== undefined) {
        return { ...item, type: 'custom_tool_call', call_id, name, input: program }
      }
      return { ...item, type: 'function_call', call_id, name, arguments: JSON.stringify(input) }
    }),
    usage: { input_tokens: 1_520, output_tokens: 10, total_tokens: 1_530 },
  }),
}
