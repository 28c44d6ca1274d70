import {
  type Events,
  isMain,
  LAST_WORDS,
  type ModelRequest,
  nextStep,
  resultsIn,
  retrievalIn,
  shellOf,
  toolNamed,
} from './model.ts'
import type { Step } from './project.ts'

/** A message of Anthropic's API, streamed if that is asked for. */
export function speakAnthropic(request: ModelRequest, script: readonly Step[]): Events | object {
  const { model, messages } = request
  const done = resultsIn(messages, /"type":"tool_result"/g)
  const step = isMain(request) ? nextStep(request, script[done]) : undefined
  const isCall = step !== undefined
  const called = step === undefined ? [] : callOf(request, step)
  const usage = { input_tokens: 10, output_tokens: 5 }
  const stop = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null }
  const message = {
    ...{ id: `msg_${done}`, type: 'message', role: 'assistant', model, content: [], usage },
    ...{ stop_reason: null, stop_sequence: null },
  }
  if (request.stream !== true) {
    const [name, input] = called
    const whole = isCall
      ? { type: 'tool_use', id: `toolu_${done}`, name, input }
      : { type: 'text', text: LAST_WORDS }
    return { ...message, ...stop, content: [whole] }
  }
  const block = isCall
    ? { type: 'tool_use', id: `toolu_${done}`, name: called[0], input: {} }
    : { type: 'text', text: '' }
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(called[1]) }
    : { type: 'text_delta', text: LAST_WORDS }
  return [
    { type: 'message_start', ...{ message } },
    { type: 'content_block_start', ...{ index: 0, content_block: block } },
    { type: 'content_block_delta', ...{ index: 0, delta } },
    { type: 'content_block_stop', ...{ index: 0 } },
    { type: 'message_delta', ...{ delta: stop, usage } },
    { type: 'message_stop' },
  ]
}

/** The name and the arguments of a call. */
function callOf(request: ModelRequest, step: Step): readonly [string, object] {
  if ('retrieves' in step) {
    const { tool, hash } = retrievalIn(request)!
    return [tool, { hash, lines: '1-5' }]
  }
  if ('tool' in step) return [toolNamed(request, step.tool), step.args]
  const isClaude = shellOf(request) === 'Bash'
  if ('command' in step) return [isClaude ? 'Bash' : 'bash', { ...step, description: 'look' }]
  const { file, ...part } = step
  return isClaude ? ['Read', { ...part, file_path: file }] : ['read', { ...part, filePath: file }]
}
