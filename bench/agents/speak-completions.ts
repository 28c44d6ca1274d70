import {
  type Events,
  isMain,
  LAST_WORDS,
  type ModelRequest,
  nextStep,
  resultsIn,
  retrievalIn,
  toolNamed,
} from './model.ts'
import type { Step } from './project.ts'

/** An answer of OpenAI's chat completions, streamed if that is asked for. */
export function speakCompletions(request: ModelRequest, script: readonly Step[]): Events | object {
  const done = resultsIn(request.messages, /"role":"tool"/g)
  const step = isMain(request) ? nextStep(request, script[done]) : undefined
  const call = step === undefined ? null : { id: `call_${done}`, type: 'function', index: 0 }
  const delta =
    step === undefined
      ? { role: 'assistant', content: LAST_WORDS }
      : {
          ...{ role: 'assistant', content: null },
          tool_calls: [{ ...call, function: callOf(request, step) }],
        }
  const answer = (object: string, choice: object, more: object = {}) => ({
    ...{ id: `chat_${done}`, object, created: 1, model: request.model },
    ...{ choices: [{ index: 0, ...choice }], ...more },
  })
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const finish_reason = call === null ? 'stop' : 'tool_calls'
  if (request.stream !== true) {
    return answer('chat.completion', { message: delta, finish_reason }, { usage })
  }
  const chunk = 'chat.completion.chunk'
  return [
    answer(chunk, { delta, finish_reason: null }),
    answer(chunk, { delta: {}, finish_reason }, { usage }),
    '[DONE]',
  ]
}

/** As Qwen Code's tools take their arguments. */
function callOf(request: ModelRequest, step: Step): object {
  const called = (name: string, args: object) => ({ name, arguments: JSON.stringify(args) })
  if ('retrieves' in step) {
    const { tool, hash } = retrievalIn(request)!
    return called(tool, { hash, lines: '1-5' })
  }
  if ('tool' in step) return called(toolNamed(request, step.tool), step.args)
  if ('command' in step) {
    return called('run_shell_command', { ...step, description: 'look', is_background: false })
  }
  const { file, ...part } = step
  return called('read_file', { ...part, file_path: file })
}
